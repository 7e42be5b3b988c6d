// What runs on a GPU lies in a library of its own, which is opened when a GPU is first asked for: a
// program that uses none needs neither CUDA nor cuDNN on its machine, and does not load their half
// gigabyte.
#pragma once

#include <memory>
#include <string>

#include "workloads/ceilings/operation.h"
#include "workloads/engines/engine.h"

namespace doetune::workloads {

/// What the library offers; see Engine and Device.
struct CudaLibrary {
  int (*devices)(std::string* why_none);
  std::unique_ptr<Engine> (*make_engine)(const EngineOptions& options);
  std::unique_ptr<Device> (*open_device)();
};

/// The name of the function in the library that returns its CudaLibrary, and the library's own.
inline constexpr char kCudaLibraryEntry[] = "doetune_cuda_library";
inline constexpr char kCudaLibraryFile[] = "libdoetune_cuda.so";

/// Opens the library beside this program, or in the folder `workloads` beside it. Throws NoDevice,
/// which says why, where it was not built or what it needs is missing.
const CudaLibrary& cuda_library();

}  // namespace doetune::workloads
