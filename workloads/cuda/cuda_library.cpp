#include "workloads/cuda/cuda_library.h"

#include <dlfcn.h>

#include <filesystem>

namespace doetune::workloads {
namespace {

std::filesystem::path library_file() {
  const auto here = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  for (const auto& folder : {here, here / "workloads"})
    if (std::filesystem::exists(folder / kCudaLibraryFile)) return folder / kCudaLibraryFile;
  throw NoDevice("this build has no CUDA engine (no CUDA toolkit was found when it was built)");
}

const CudaLibrary* open_library() {
  void* library = ::dlopen(library_file().c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    throw NoDevice(std::string("the CUDA engine cannot be loaded: ") + ::dlerror());
  using Entry = const CudaLibrary* (*)();
  const auto entry = reinterpret_cast<Entry>(::dlsym(library, kCudaLibraryEntry));
  if (entry == nullptr)
    throw NoDevice(std::string("the CUDA engine is of another build: ") + ::dlerror());
  return entry();
}

}  // namespace

const CudaLibrary& cuda_library() {
  static const CudaLibrary* const library = open_library();
  return *library;
}

}  // namespace doetune::workloads
