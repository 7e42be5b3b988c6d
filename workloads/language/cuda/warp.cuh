// Threads of a warp, for the kernels of a decoder.
#pragma once

#include <cuda_runtime_api.h>

namespace doetune::workloads::language {

constexpr int kWarp = 32;

/// The value of the thread whose lane differs in the bits of `mask`; all threads must call it.
template <class T>
__device__ T from_lane(T value, int mask) {
  return __shfl_xor_sync(0xFFFFFFFFU, value, mask);
}

}  // namespace doetune::workloads::language
