// What the kernels of a decoder share: threads of a warp, and the precisions of weights.
#pragma once

#include <cuda_bf16.h>
#include <cuda_runtime_api.h>

#include <cstdint>

#include "workloads/engines/engine.h"

namespace doetune::workloads::language {

constexpr int kWarp = 32;

/// The value of the thread whose lane differs in the bits of `mask`; all threads must call it.
template <class T>
__device__ T from_lane(T value, int mask) {
  return __shfl_xor_sync(0xFFFFFFFFU, value, mask);
}

__device__ inline float float_of(std::uint32_t bits) { return __builtin_bit_cast(float, bits); }

/// The numbers of a pair of bf16, whose bits are the upper ones of fp32's.
__device__ inline float first_of(std::uint32_t pair) { return float_of(pair << 16); }
__device__ inline float second_of(std::uint32_t pair) { return float_of(pair & 0xFFFF0000U); }

/// Calls work(T{}) with the type of the weights' precision: fp32 or bf16.
template <class Work>
void typed(Precision precision, Work work) {
  if (precision == Precision::bf16) return work(__nv_bfloat16{});
  work(float{});
}

}  // namespace doetune::workloads::language
