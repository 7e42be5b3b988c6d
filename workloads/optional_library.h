// Shared libraries that are opened on demand: a program that uses no GPU, or is alone, needs
// neither CUDA nor MPI installed, and does not load half a gigabyte of libraries.
#pragma once

namespace doetune::workloads {

struct OptionalLibrary {
  const char* file;
  const char* entry;   // name of the entry point
  const char* offers;  // for messages: "CUDA engine"
  const char* package;
  const char* needs;  // build requirements, for messages
};

/// The entry point of the library, which is in this program's folder or the one above it. Throws
/// NoDevice, with the reason, where it was not built or a dependency is missing.
void* open_library(const OptionalLibrary& library);

}  // namespace doetune::workloads
