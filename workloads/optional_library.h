// Shared libraries that are opened on demand: a program that uses no GPU, or is alone, needs
// neither CUDA nor MPI installed, and does not load half a gigabyte of libraries.
#pragma once

#include <filesystem>

namespace doetune::workloads {

struct OptionalLibrary {
  const char* file;
  const char* entry;   // name of the entry point
  const char* offers;  // for messages: "CUDA engine"
  const char* package;
  const char* needs;  // build requirements, for messages
};

/// A library of doetune's in the folder of this program, or of the library with this code where
/// another program opened that, or in the folder above; empty if it is in neither.
std::filesystem::path own_library(const char* file);

/// The entry point of the library, found by own_library(). Throws
/// NoDevice, with the reason, where it was not built or a dependency is missing.
void* open_library(const OptionalLibrary& library);

}  // namespace doetune::workloads
