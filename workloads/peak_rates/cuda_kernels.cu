#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>

#include "workloads/peak_rates/cuda_kernels.h"

namespace doetune::workloads::cuda {
namespace {

constexpr unsigned kThreads = 256;  // per block
constexpr std::int64_t kMaxBlocks = 4096;

__device__ std::int64_t first() { return std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; }
__device__ std::int64_t stride() { return std::int64_t{gridDim.x} * blockDim.x; }

unsigned blocks(std::int64_t count) {
  return static_cast<unsigned>(
      std::clamp<std::int64_t>((count + kThreads - 1) / kThreads, 1, kMaxBlocks));
}

template <bool kTwoInputs>
__global__ void combine_kernel(float a, const float4* x, float b, const float4* y, float4* z,
                               std::int64_t count) {
  for (std::int64_t i = first(); i < count; i += stride()) {
    float4 value = x[i];
    value = {a * value.x, a * value.y, a * value.z, a * value.w};
    if constexpr (kTwoInputs) {
      const float4 other = y[i];
      value = {value.x + b * other.x, value.y + b * other.y, value.z + b * other.z,
               value.w + b * other.w};
    }
    z[i] = value;
  }
}

template <class From, class To>
__global__ void convert_kernel(const From* from, To* to, std::int64_t count) {
  for (std::int64_t i = first(); i < count; i += stride())
    to[i] = static_cast<To>(static_cast<float>(from[i]));
}

template <class From, class To>
void convert(const void* from, void* to, std::int64_t count) {
  convert_kernel<<<blocks(count), kThreads>>>(static_cast<const From*>(from), static_cast<To*>(to),
                                              count);
}

}  // namespace

void combine(float a, const float* x, float b, const float* y, float* z, std::int64_t count,
             cudaStream_t stream) {
  const std::int64_t fours = count / 4;
  const auto kernel = y == nullptr ? combine_kernel<false> : combine_kernel<true>;
  kernel<<<blocks(fours), kThreads, 0, stream>>>(a, reinterpret_cast<const float4*>(x), b,
                                                 reinterpret_cast<const float4*>(y),
                                                 reinterpret_cast<float4*>(z), fours);
}

void from_floats(const float* from, void* to, Precision precision, std::int64_t count) {
  if (precision == Precision::bf16) return convert<float, __nv_bfloat16>(from, to, count);
  if (precision == Precision::fp16) return convert<float, __half>(from, to, count);
  convert<float, float>(from, to, count);
}

void to_floats(const void* from, float* to, Precision precision, std::int64_t count) {
  if (precision == Precision::bf16) return convert<__nv_bfloat16, float>(from, to, count);
  if (precision == Precision::fp16) return convert<__half, float>(from, to, count);
  convert<float, float>(from, to, count);
}

}  // namespace doetune::workloads::cuda
