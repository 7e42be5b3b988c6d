// Conversion of values on the GPU, before and after they are sent.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace doetune::workloads::nccl {

/// values *= weight.
void scale(float* values, std::size_t count, float weight, cudaStream_t stream);

/// To bfloat16, rounded as in bfloat16.h, times the weight; and back.
void encode(const float* values, std::uint16_t* halves, std::size_t count, float weight,
            cudaStream_t stream);
void decode(const std::uint16_t* halves, float* values, std::size_t count, cudaStream_t stream);

}  // namespace doetune::workloads::nccl
