// The GPU code, in a shared library that is opened when a GPU is first asked for
// (optional_library.h).
#pragma once

#include <memory>
#include <string>

#include "workloads/engines/engine.h"
#include "workloads/language/decoder.h"
#include "workloads/peak_rates/operation.h"

namespace doetune::workloads {

/// The library's functions; see Engine, Device and LanguageModel.
struct CudaLibrary {
  int (*devices)(std::string* why_none);
  std::unique_ptr<Engine> (*make_engine)(const EngineOptions& options);
  std::unique_ptr<Device> (*open_device)();
  std::unique_ptr<LanguageModel> (*make_language_model)(const DecoderShape& shape,
                                                        std::uint64_t seed, Precision precision);
};

/// Opens the library. Throws NoDevice.
const CudaLibrary& cuda_library();

}  // namespace doetune::workloads
