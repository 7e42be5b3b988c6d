// The entry point of a libdoetune_cuda.so whose GPU is the host: programs beside it find it as they
// find the real one.
#include "workloads/cuda/cuda_library.h"
#include "workloads/engines/cudnn/cudnn_engine.h"
#include "workloads/language/cuda/gpu_model.h"

namespace {

using namespace doetune::workloads;

std::unique_ptr<Device> no_device() {
  throw NoDevice("the host GPU has no peak rates: use roofline: off");
}

}  // namespace

extern "C" const CudaLibrary* doetune_cuda_library() {
  static constexpr CudaLibrary kLibrary{cudnn_devices, make_cudnn_engine, no_device,
                                        make_gpu_language_model};
  return &kLibrary;
}
