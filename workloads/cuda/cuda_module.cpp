// The entry point of libdoetune_cuda.so.
#include "workloads/cuda/cuda_library.h"
#include "workloads/engines/cudnn/cudnn_engine.h"
#include "workloads/language/cuda/gpu_model.h"
#include "workloads/peak_rates/cuda_device.h"

extern "C" const doetune::workloads::CudaLibrary* doetune_cuda_library() {
  using namespace doetune::workloads;
  static constexpr CudaLibrary kLibrary{cudnn_devices, make_cudnn_engine, open_cuda_device,
                                        make_gpu_language_model};
  return &kLibrary;
}
