// Launching kernels. No <<<>>>, so that a host compiler can compile kernels for tests.
#pragma once

#include <cuda_runtime_api.h>

#include "workloads/engines/cudnn/device.h"

namespace doetune::workloads::cuda {

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

}  // namespace doetune::workloads::cuda
