#include "workloads/ceilings/cuda_device.h"

#include <cuda_runtime.h>
#include <fmt/format.h>

#include <vector>

#include "workloads/ceilings/cuda_gemm.h"
#include "workloads/ceilings/cuda_kernels.h"
#include "workloads/ceilings/cuda_memory.h"

namespace doetune::workloads {
namespace {

using cuda::check;
using cuda::Memory;
using cuda::Timeline;

class CudaStreamKernel final : public Operation {
 public:
  explicit CudaStreamKernel(const Copy& copy)
      : kind_(copy.kind),
        count_(copy.bytes / static_cast<std::int64_t>(sizeof(float))),
        x_(static_cast<std::size_t>(copy.bytes)),
        y_(static_cast<std::size_t>(copy.bytes)),
        z_(static_cast<std::size_t>(copy.bytes)) {
    set(x_, count_, Precision::fp32, copy_x);
    set(y_, count_, Precision::fp32, copy_y);
  }

  double seconds(int repetitions) override {
    const float a = kind_ == CopyKind::scale ? kCopyScalar : 1.0F;
    const float b = kind_ == CopyKind::triad ? kCopyScalar : 1.0F;
    const bool two = kind_ == CopyKind::add || kind_ == CopyKind::triad;
    const float* y = two ? y_.as<float>() : nullptr;
    return timeline_.seconds(repetitions, [&] {
      cuda::combine(a, x_.as<float>(), b, y, z_.as<float>(), count_, timeline_.stream());
    });
  }

  std::vector<float> result() override { return read(z_, count_, Precision::fp32); }

 private:
  CopyKind kind_;
  std::int64_t count_;
  Timeline timeline_;
  Memory x_;
  Memory y_;
  Memory z_;
};

/// Between host and device, by the copy engines.
class CudaTransfer final : public Operation {
 public:
  explicit CudaTransfer(const Copy& copy)
      : to_device_(copy.kind == CopyKind::host_to_device),
        bytes_(static_cast<std::size_t>(copy.bytes)),
        device_(bytes_) {
    if (copy.pinned)
      pinned_ = std::make_unique<Memory>(bytes_, Memory::Place::pinned);
    else
      pageable_.resize(bytes_ / sizeof(float));
    const auto count = static_cast<std::int64_t>(bytes_ / sizeof(float));
    for (std::int64_t i = 0; i < count; ++i) host()[i] = copy_x(i);
    check(cudaMemcpy(device_.data(), host(), bytes_, cudaMemcpyHostToDevice));
  }

  double seconds(int repetitions) override {
    void* to = to_device_ ? device_.data() : host();
    const void* from = to_device_ ? static_cast<const void*>(host()) : device_.data();
    const auto kind = to_device_ ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost;
    return timeline_.seconds(
        repetitions, [&] { check(cudaMemcpyAsync(to, from, bytes_, kind, timeline_.stream())); });
  }

  std::vector<float> result() override {
    std::vector<float> written(bytes_ / sizeof(float));
    check(cudaMemcpy(written.data(), to_device_ ? device_.data() : host(), bytes_,
                     cudaMemcpyDefault));
    return written;
  }

 private:
  float* host() { return pinned_ ? pinned_->as<float>() : pageable_.data(); }

  bool to_device_;
  std::size_t bytes_;
  Timeline timeline_;
  Memory device_;
  std::unique_ptr<Memory> pinned_;
  std::vector<float> pageable_;
};

/// Makes no context of the GPU before an operation is prepared: asking for ceilings that are kept
/// shall cost none of its memory.
class CudaDevice final : public Device {
 public:
  CudaDevice() {
    int count = 0;
    const cudaError_t status = cudaGetDeviceCount(&count);
    if (status != cudaSuccess || count == 0)
      throw NoDevice(status == cudaSuccess ? "this process sees no GPU"
                                           : std::string("CUDA: ") + cudaGetErrorString(status));
    check(cudaGetDeviceProperties(&properties_, 0));
  }

  std::unique_ptr<Operation> prepare(const Gemm& gemm) override { return cuda::make_gemm(gemm); }

  std::unique_ptr<Operation> prepare(const Copy& copy) override {
    if (copy.kind == CopyKind::host_to_device || copy.kind == CopyKind::device_to_host)
      return std::make_unique<CudaTransfer>(copy);
    return std::make_unique<CudaStreamKernel>(copy);
  }

  std::string description() const override {
    int driver = 0;
    check(cudaDriverGetVersion(&driver));
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
