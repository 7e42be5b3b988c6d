#include "workloads/peak_rates/cuda_device.h"

#include <fmt/format.h>

#include <vector>

#include "workloads/peak_rates/cuda_arrays.h"
#include "workloads/peak_rates/cuda_gemm.h"
#include "workloads/peak_rates/cuda_kernels.h"

namespace doetune::workloads {
namespace {

using cuda::check;
using cuda::DeviceBuffer;
using cuda::floats_of;
using cuda::PinnedBuffer;
using cuda::Timeline;

constexpr const char* kArray = "an array of the copy";
constexpr const char* kCopying = "copying an array";

class CudaStreamKernel final : public Operation {
 public:
  explicit CudaStreamKernel(const Copy& copy)
      : kind_(copy.kind),
        count_(copy.bytes / static_cast<std::int64_t>(sizeof(float))),
        x_(copy.bytes, kArray),
        y_(copy.bytes, kArray),
        z_(copy.bytes, kArray) {
    cuda::set(x_, count_, Precision::fp32, copy_x);
    cuda::set(y_, count_, Precision::fp32, copy_y);
  }

  double seconds(int repetitions) override {
    const float a = kind_ == CopyKind::scale ? kCopyScalar : 1.0F;
    const float b = kind_ == CopyKind::triad ? kCopyScalar : 1.0F;
    const bool two = kind_ == CopyKind::add || kind_ == CopyKind::triad;
    const float* y = two ? floats_of(y_) : nullptr;
    return timeline_.seconds(repetitions, [&] {
      cuda::combine(a, floats_of(x_), b, y, floats_of(z_), count_, timeline_.stream());
    });
  }

  std::vector<float> result() override { return cuda::read(z_, count_, Precision::fp32); }

 private:
  CopyKind kind_;
  std::int64_t count_;
  Timeline timeline_;
  DeviceBuffer x_;
  DeviceBuffer y_;
  DeviceBuffer z_;
};

/// Between host and device, by the copy engines.
class CudaTransfer final : public Operation {
 public:
  explicit CudaTransfer(const Copy& copy)
      : to_device_(copy.kind == CopyKind::host_to_device),
        bytes_(static_cast<std::size_t>(copy.bytes)),
        device_(copy.bytes, kArray) {
    if (copy.pinned)
      pinned_ = PinnedBuffer(copy.bytes);
    else
      pageable_.resize(bytes_ / sizeof(float));
    const auto count = static_cast<std::int64_t>(bytes_ / sizeof(float));
    for (std::int64_t i = 0; i < count; ++i) host()[i] = copy_x(i);
    check(cudaMemcpy(device_.data(), host(), bytes_, cudaMemcpyHostToDevice), kCopying);
  }

  double seconds(int repetitions) override {
    void* to = to_device_ ? device_.data() : host();
    const void* from = to_device_ ? static_cast<const void*>(host()) : device_.data();
    const auto kind = to_device_ ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost;
    return timeline_.seconds(repetitions, [&] {
      check(cudaMemcpyAsync(to, from, bytes_, kind, timeline_.stream()), kCopying);
    });
  }

  std::vector<float> result() override {
    std::vector<float> written(bytes_ / sizeof(float));
    check(
        cudaMemcpy(written.data(), to_device_ ? device_.data() : host(), bytes_, cudaMemcpyDefault),
        kCopying);
    return written;
  }

 private:
  float* host() {
    return pageable_.empty() ? static_cast<float*>(pinned_.data()) : pageable_.data();
  }

  bool to_device_;
  std::size_t bytes_;
  Timeline timeline_;
  DeviceBuffer device_;
  PinnedBuffer pinned_;
  std::vector<float> pageable_;
};

/// Creates no CUDA context before an operation is prepared, so that reading cached peak rates takes
/// no GPU memory.
class CudaDevice final : public Device {
 public:
  CudaDevice() {
    std::string why_none;
    if (cudnn::visible_gpus(&why_none) == 0) throw NoDevice(why_none);
    check(cudaGetDeviceProperties(&properties_, 0), "reading the GPU's properties");
  }

  std::unique_ptr<Operation> prepare(const Gemm& gemm) override { return cuda::make_gemm(gemm); }

  std::unique_ptr<Operation> prepare(const Copy& copy) override {
    if (copy.kind == CopyKind::host_to_device || copy.kind == CopyKind::device_to_host)
      return std::make_unique<CudaTransfer>(copy);
    return std::make_unique<CudaStreamKernel>(copy);
  }

  std::string description() const override {
    int driver = 0;
    check(cudaDriverGetVersion(&driver), "reading the driver's version");
    return fmt::format("{} ({} multiprocessors), driver for CUDA {}.{}, cublasLt {}",
                       properties_.name, properties_.multiProcessorCount, driver / 1000,
                       driver % 1000 / 10, cuda::gemm_library_version());
  }

  std::int64_t cache_bytes() const override { return properties_.l2CacheSize; }

  int largest_gemm() const override { return 8192; }

 private:
  cudaDeviceProp properties_{};
};

}  // namespace

std::unique_ptr<Device> open_cuda_device() { return std::make_unique<CudaDevice>(); }

}  // namespace doetune::workloads
