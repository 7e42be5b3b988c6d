#include "workloads/cuda/cuda_library.h"

#include "workloads/optional_library.h"

namespace doetune::workloads {

const CudaLibrary& cuda_library() {
  using Entry = const CudaLibrary* (*)();
  static const CudaLibrary* const library = reinterpret_cast<Entry>(
      open_library({"libdoetune_cuda.so", "doetune_cuda_library", "CUDA engine", "doetune-cuda",
                    "the CUDA toolkit and cuDNN"}))();
  return *library;
}

}  // namespace doetune::workloads
