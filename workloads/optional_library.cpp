#include "workloads/optional_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>

#include "workloads/engines/engine.h"

namespace doetune::workloads {
namespace {

namespace fs = std::filesystem;

/// The folder of what contains this code: the program, or a library that another program opened.
fs::path own_folder() {
  Dl_info info{};
  const bool known = ::dladdr(reinterpret_cast<const void*>(&own_folder), &info) != 0;
  const fs::path file = known ? fs::path(info.dli_fname) : fs::path();
  return file.extension() == ".so" ? file.parent_path()
                                   : fs::read_symlink("/proc/self/exe").parent_path();
}

}  // namespace

fs::path own_library(const char* file) {
  const fs::path here = own_folder();
  for (const auto& folder : {here, here.parent_path()})
    if (fs::exists(folder / file)) return folder / file;
  return {};
}

void* open_library(const OptionalLibrary& library) {
  const fs::path file = own_library(library.file);
  if (file.empty())
    throw NoDevice(
        fmt::format("there is no {}: {} is not in {} (the package {} contains it; "
                    "it is built only where {} is found)",
                    library.offers, library.file, own_folder().parent_path().string(),
                    library.package, library.needs));
  void* opened = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (opened == nullptr)
    throw NoDevice(fmt::format("the {} cannot be loaded: {}", library.offers, ::dlerror()));
  void* entry = ::dlsym(opened, library.entry);
  if (entry == nullptr)
    throw NoDevice(fmt::format("the {} is from another build: {}", library.offers, ::dlerror()));
  return entry;
}

}  // namespace doetune::workloads
