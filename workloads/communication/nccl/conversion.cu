#include <cuda_bf16.h>

#include <algorithm>

#include "workloads/communication/nccl/conversion.h"

namespace doetune::workloads::nccl {
namespace {

constexpr int kThreads = 256;
constexpr std::size_t kMaxBlocks = 4096;

int blocks(std::size_t count) {
  return static_cast<int>(std::min((count + kThreads - 1) / kThreads, kMaxBlocks));
}

template <class Work>
__global__ void each(std::size_t count, Work work) {
  for (std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x; i < count;
       i += std::size_t{gridDim.x} * kThreads)
    work(i);
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
  if (count > 0) each<<<blocks(count), kThreads, 0, stream>>>(count, Scale{values, weight});
}

void encode(const float* values, std::uint16_t* halves, std::size_t count, float weight,
            cudaStream_t stream) {
  if (count > 0)
    each<<<blocks(count), kThreads, 0, stream>>>(count, Encode{values, halves, weight});
}

void decode(const std::uint16_t* halves, float* values, std::size_t count, cudaStream_t stream) {
  if (count > 0) each<<<blocks(count), kThreads, 0, stream>>>(count, Decode{halves, values});
}

}  // namespace doetune::workloads::nccl
