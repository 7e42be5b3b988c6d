#include "workloads/peak_rates/cpu_device.h"

#include <fmt/format.h>
#include <omp.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <map>
#include <new>
#include <oneapi/dnnl/dnnl.hpp>
#include <span>

#include "base/clock.h"
#include "workloads/engines/onednn/onednn_calls.h"

namespace doetune::workloads {
namespace {

using dnnl::memory;
using onednn::translated;

/// Zeroed memory that no thread has touched yet, in large pages where available.
class Array {
 public:
  explicit Array(std::int64_t count) : count_(static_cast<std::size_t>(count)) {
    data_ = mmap(nullptr, bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data_ == MAP_FAILED) throw std::bad_alloc();
    madvise(data_, bytes(), MADV_HUGEPAGE);
  }
  ~Array() { munmap(data_, bytes()); }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;

  float* data() const { return static_cast<float*>(data_); }
  std::span<const float> values() const { return {data(), count_}; }

 private:
  std::size_t bytes() const { return count_ * sizeof(float); }

  std::size_t count_;
  void* data_;
};

/// Sets element i to value(i), on the thread that processes it in a STREAM kernel.
void fill(const Array& array, float (*value)(std::int64_t), int threads) {
  const auto count = static_cast<std::int64_t>(array.values().size());
  float* out = array.data();
#pragma omp parallel for num_threads(threads)
  for (std::int64_t i = 0; i < count; ++i) out[i] = value(i);
}

template <class Run>
double seconds_of(int repetitions, Run run) {
  const auto start = Clock::now();
  for (int i = 0; i < repetitions; ++i) run();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

memory::data_type type_of(Precision precision) {
  if (precision == Precision::fp32) return memory::data_type::f32;
  if (precision == Precision::bf16) return memory::data_type::bf16;
  throw CannotRun(fmt::format("oneDNN has no matrix products in {} on a CPU; it has fp32 and bf16",
                              name_of(precision)));
}

memory::format_tag tag_of_b(const Gemm& gemm) {
  return gemm.transpose_b ? memory::format_tag::ba : memory::format_tag::ab;
}

class CpuGemm final : public Operation {
 public:
  CpuGemm(const dnnl::engine& engine, const Gemm& gemm, int threads)
      : engine_(engine),
        stream_(engine),
        threads_(threads),
        type_(type_of(gemm.precision)),
        primitive_(describe(gemm)),
        a_(operand({gemm.m, gemm.k}, memory::format_tag::ab, gemm_a)),
        b_(operand({gemm.k, gemm.n}, tag_of_b(gemm), gemm_b)),
        c_({{gemm.m, gemm.n}, type_, memory::format_tag::ab}, engine_) {}

  double seconds(int repetitions) override {
    return translated([&] {
      omp_set_num_threads(threads_);
      return seconds_of(repetitions, [&] {
        primitive_.execute(stream_,
                           {{DNNL_ARG_SRC, a_}, {DNNL_ARG_WEIGHTS, b_}, {DNNL_ARG_DST, c_}});
        stream_.wait();
      });
    });
  }

  std::vector<float> result() override {
    const memory::desc desc = c_.get_desc();
    const memory::dims dims = desc.dims();
    std::vector<float> values(static_cast<std::size_t>(dims[0] * dims[1]));
    memory plain({dims, memory::data_type::f32, memory::format_tag::ab}, engine_, values.data());
    copy(c_, plain);
    return values;
  }

 private:
  dnnl::matmul describe(const Gemm& gemm) const {
    omp_set_num_threads(threads_);
    const dnnl::matmul::desc desc({{gemm.m, gemm.k}, type_, memory::format_tag::ab},
                                  {{gemm.k, gemm.n}, type_, tag_of_b(gemm)},
                                  {{gemm.m, gemm.n}, type_, memory::format_tag::ab});
    const dnnl::matmul::primitive_desc chosen(desc, engine_, /*allow_empty=*/true);
    if (!chosen)
      throw CannotRun(
          fmt::format("oneDNN has no matrix products in {} on this CPU", name_of(gemm.precision)));
    return dnnl::matmul(chosen);
  }

  memory operand(const memory::dims& dims, memory::format_tag tag, float (*value)(std::int64_t)) {
    const Array drawn(dims[0] * dims[1]);
    fill(drawn, value, threads_);
    memory plain({dims, memory::data_type::f32, tag}, engine_, drawn.data());
    memory operand({dims, type_, tag}, engine_);
    copy(plain, operand);
    return operand;
  }

  void copy(memory& from, memory& to) {
    dnnl::reorder(from, to).execute(stream_, from, to);
    stream_.wait();
  }

  dnnl::engine engine_;
  dnnl::stream stream_;
  int threads_;
  memory::data_type type_;
  dnnl::matmul primitive_;
  memory a_;
  memory b_;
  memory c_;
};

class CpuCopy final : public Operation {
 public:
  CpuCopy(const Copy& copy, int threads)
      : kind_(copy.kind),
        count_(copy.bytes / static_cast<std::int64_t>(sizeof(float))),
        threads_(threads),
        x_(count_),
        y_(count_),
        z_(count_) {
    if (kind_ == CopyKind::host_to_device || kind_ == CopyKind::device_to_host)
      throw CannotRun(fmt::format("a CPU has no copies {}: it is the host", name_of(kind_)));
    fill(x_, copy_x, threads_);
    if (kind_ == CopyKind::add || kind_ == CopyKind::triad) fill(y_, copy_y, threads_);
    fill(
        z_, [](std::int64_t) { return 0.0F; }, threads_);
  }

  double seconds(int repetitions) override {
    return seconds_of(repetitions, [&] { run(); });
  }

  std::vector<float> result() override { return {z_.values().begin(), z_.values().end()}; }

 private:
  void run() const {
    switch (kind_) {
      case CopyKind::copy:
        return each([](float x, float) { return x; });
      case CopyKind::scale:
        return each([](float x, float) { return kCopyScalar * x; });
      case CopyKind::add:
        return each([](float x, float y) { return x + y; });
      default:
        return each([](float x, float y) { return x + kCopyScalar * y; });
    }
  }

  template <class Value>
  void each(Value value) const {
    const float* x = x_.data();
    const float* y = y_.data();
    float* z = z_.data();
#pragma omp parallel for simd num_threads(threads_) schedule(static)
    for (std::int64_t i = 0; i < count_; ++i) z[i] = value(x[i], y[i]);
  }

  CopyKind kind_;
  std::int64_t count_;
  int threads_;
  Array x_;
  Array y_;
  Array z_;
};

/// "AMD EPYC 9654 96-Core Processor (family 25, model 17, stepping 1)".
std::string cpu_name() {
  std::ifstream in("/proc/cpuinfo");
  std::map<std::string, std::string> fields;
  for (std::string line; std::getline(in, line) && !line.empty();) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    fields[line.substr(0, line.find_last_not_of("\t ", colon - 1) + 1)] =
        line.substr(std::min(colon + 2, line.size()));
  }
  return fmt::format("{} (family {}, model {}, stepping {})", fields["model name"],
                     fields["cpu family"], fields["model"], fields["stepping"]);
}

class CpuDevice final : public Device {
 public:
  explicit CpuDevice(int threads) : threads_(threads) {}

  std::unique_ptr<Operation> prepare(const Gemm& gemm) override {
    // One allocation, since the kernel refuses more than the machine can hold only for a single
    // request.
    const Array all(gemm.m * gemm.k + gemm.k * gemm.n + gemm.m * gemm.n);
    return translated([&] { return std::make_unique<CpuGemm>(engine_, gemm, threads_); });
  }

  std::unique_ptr<Operation> prepare(const Copy& copy) override {
    return std::make_unique<CpuCopy>(copy, threads_);
  }

  std::string description() const override {
    const dnnl_version_t* version = dnnl_version();
    return fmt::format("{}, {} thread{}, oneDNN {}.{}.{}", cpu_name(), threads_,
                       threads_ == 1 ? "" : "s", version->major, version->minor, version->patch);
  }

  std::int64_t cache_bytes() const override { return std::max(0L, sysconf(_SC_LEVEL3_CACHE_SIZE)); }

  int largest_gemm() const override { return 2048; }

 private:
  int threads_;
  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
};

}  // namespace

std::unique_ptr<Device> open_cpu_device(int threads) {
  return std::make_unique<CpuDevice>(threads);
}

}  // namespace doetune::workloads
