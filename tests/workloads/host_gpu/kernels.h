// What kernels need when they are compiled for the host. The compiler includes it before each
// source of kernels, with __shared__ defined as static: one block runs at a time.
#pragma once

#include <cuda_runtime_api.h>

#include <cstring>
#include <functional>
#include <tuple>

#undef __launch_bounds__
#define __launch_bounds__(...)

namespace doetune::host_gpu {

/// Submits the blocks of a kernel; `thread` is the work of one thread.
cudaError_t launch(const cudaLaunchConfig_t& config, std::function<void()> thread);

/// Waits for the threads of the warp, which call it too, and returns the value of the thread whose
/// lane differs in the bits of `mask`. At most 8 bytes.
void exchange(void* value, std::size_t bytes, int mask);

}  // namespace doetune::host_gpu

extern uint3 threadIdx;
extern uint3 blockIdx;
extern dim3 blockDim;
extern dim3 gridDim;

void __syncthreads();

template <class T>
T __shfl_xor_sync(unsigned int, T value, int mask) {
  doetune::host_gpu::exchange(&value, sizeof value, mask);
  return value;
}

inline int atomicAdd(int* address, int value) {
  const int before = *address;
  *address += value;
  return before;
}

template <class... Parameters, class... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...),
                               Arguments&&... arguments) {
  return doetune::host_gpu::launch(
      *config, [kernel, kept = std::tuple<Parameters...>(std::forward<Arguments>(arguments)...)] {
        std::apply(kernel, kept);
      });
}
