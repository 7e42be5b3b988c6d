#include <cuda_bf16.h>

#include <algorithm>

#include "workloads/communication/nccl/conversion.h"
#include "workloads/cuda/launch.cuh"

namespace doetune::workloads::nccl {
namespace {

constexpr int kThreads = 256;
constexpr std::size_t kMaxBlocks = 4096;

template <class Work>
__global__ void each_kernel(std::size_t count, Work work) {
  for (std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x; i < count;
       i += std::size_t{gridDim.x} * kThreads)
    work(i);
}

template <class Work>
void for_each(std::size_t count, Work work, cudaStream_t stream) {
  if (count == 0) return;
  const auto blocks =
      static_cast<unsigned int>(std::min((count + kThreads - 1) / kThreads, kMaxBlocks));
  cuda::launch_kernel(stream, blocks, kThreads, each_kernel<Work>, count, work);
}

struct Scale {
  float* values;
  float weight;
  __device__ void operator()(std::size_t i) const { values[i] *= weight; }
};

struct Encode {
  const float* values;
  std::uint16_t* halves;
  float weight;
  __device__ void operator()(std::size_t i) const {
    halves[i] = __bfloat16_as_ushort(__float2bfloat16_rn(values[i] * weight));
  }
};

struct Decode {
  const std::uint16_t* halves;
  float* values;
  __device__ void operator()(std::size_t i) const {
    values[i] = __bfloat162float(__ushort_as_bfloat16(halves[i]));
  }
};

}  // namespace

void scale(float* values, std::size_t count, float weight, cudaStream_t stream) {
  for_each(count, Scale{values, weight}, stream);
}

void encode(const float* values, std::uint16_t* halves, std::size_t count, float weight,
            cudaStream_t stream) {
  for_each(count, Encode{values, halves, weight}, stream);
}

void decode(const std::uint16_t* halves, float* values, std::size_t count, cudaStream_t stream) {
  for_each(count, Decode{halves, values}, stream);
}

}  // namespace doetune::workloads::nccl
