// Language models on the CPU: oneDNN's matrix products, and our own loops for few rows and for
// attention.
#pragma once

#include <cstdint>
#include <memory>

#include "workloads/language/decoder.h"

namespace doetune::workloads {

/// Throws CannotRun for precisions other than fp32 and bf16, and for too little memory.
std::unique_ptr<LanguageModel> make_cpu_language_model(const DecoderShape& shape,
                                                       std::uint64_t seed, Precision precision,
                                                       int threads);

}  // namespace doetune::workloads
