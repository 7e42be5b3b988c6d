#include "workloads/cuda/launch.cuh"

namespace doetune::workloads::cuda {

bool begins_early() {
  constexpr int kHopper = 9;  // compute capability
  int gpu = 0;
  cudaDeviceProp properties{};
  static const bool can = cudaGetDevice(&gpu) == cudaSuccess &&
                          cudaGetDeviceProperties(&properties, gpu) == cudaSuccess &&
                          properties.major >= kHopper;
  return can;
}

}  // namespace doetune::workloads::cuda
