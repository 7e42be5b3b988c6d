// Launching kernels. No <<<>>>, so that a host compiler can compile kernels for tests.
#pragma once

#include <cuda_runtime_api.h>

#include "workloads/engines/cudnn/device.h"

namespace doetune::workloads::cuda {

/// Before a kernel that was launched early reads what the one before it wrote, or writes what that
/// one reads. The next kernel may begin from then on.
__device__ inline void wait_for_previous() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;\ngriddepcontrol.wait;" ::: "memory");
#endif
}

/// Submits a kernel of `blocks` blocks with `threads` threads each. Throws what check() throws.
template <class... Parameters, class... Arguments>
void launch_kernel(cudaStream_t stream, dim3 blocks, int threads, void (*kernel)(Parameters...),
                   const Arguments&... arguments) {
  cudaLaunchConfig_t config{};
  config.gridDim = blocks;
  config.blockDim = dim3(static_cast<unsigned int>(threads));
  config.stream = stream;
  cudnn::check(cudaLaunchKernelEx(&config, kernel, arguments...), "starting a kernel");
}

/// Whether the GPU in use can begin a kernel before the one before it has ended.
bool begins_early();

/// The same for a kernel that calls wait_for_previous(): where the GPU can, its blocks are there
/// when the kernel before it ends (CUDA's programmatic dependent launch).
template <class... Parameters, class... Arguments>
void launch_early(cudaStream_t stream, dim3 blocks, int threads, void (*kernel)(Parameters...),
                  const Arguments&... arguments) {
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = blocks;
  config.blockDim = dim3(static_cast<unsigned int>(threads));
  config.stream = stream;
  config.attrs = &early;
  config.numAttrs = begins_early() ? 1 : 0;
  cudnn::check(cudaLaunchKernelEx(&config, kernel, arguments...), "starting a kernel");
}

}  // namespace doetune::workloads::cuda
