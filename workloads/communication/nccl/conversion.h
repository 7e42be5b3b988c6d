// Values before and after they are sent, on the GPU.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace doetune::workloads::nccl {

/// values *= weight.
void scale(float* values, std::size_t count, float weight, cudaStream_t stream);

/// To bfloat16 as bfloat16.h rounds, times the weight; and back.
void encode(const float* values, std::uint16_t* halves, std::size_t count, float weight,
            cudaStream_t stream);
void decode(const std::uint16_t* halves, float* values, std::size_t count, cudaStream_t stream);

}  // namespace doetune::workloads::nccl
