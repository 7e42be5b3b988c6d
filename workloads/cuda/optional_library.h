// Libraries that programs open where they need them: a program that uses no GPU needs neither CUDA
// nor what comes with it on its machine, and does not load half a gigabyte of it.
#pragma once

namespace doetune::workloads {

struct OptionalLibrary {
  const char* file;
  const char* entry;   // the function that it is entered by
  const char* offers;  // for messages: "CUDA engine"
  const char* needs;   // where it is built
};

/// The entry of the library, which lies beside this program or in the folder above it. Throws
/// NoDevice, which says why, where it was not built or what it needs is missing.
void* open_library(const OptionalLibrary& library);

}  // namespace doetune::workloads
