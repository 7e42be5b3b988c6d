#include "workloads/optional_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>

#include "workloads/engines/engine.h"

namespace doetune::workloads {
namespace {

std::filesystem::path path_of(const OptionalLibrary& library) {
  const auto here = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  for (const auto& folder : {here, here.parent_path()})
    if (std::filesystem::exists(folder / library.file)) return folder / library.file;
  throw NoDevice(fmt::format(
      "there is no {}: {} is not in {} (the package {} has it; a build makes "
      "it where it finds {})",
      library.offers, library.file, here.parent_path().string(), library.package, library.needs));
}

}  // namespace

void* open_library(const OptionalLibrary& library) {
  void* opened = ::dlopen(path_of(library).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (opened == nullptr)
    throw NoDevice(fmt::format("the {} cannot be loaded: {}", library.offers, ::dlerror()));
  void* entry = ::dlsym(opened, library.entry);
  if (entry == nullptr)
    throw NoDevice(fmt::format("the {} is from another build: {}", library.offers, ::dlerror()));
  return entry;
}

}  // namespace doetune::workloads
