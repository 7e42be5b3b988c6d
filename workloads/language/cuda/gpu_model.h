// Language models on a GPU.
#pragma once

#include <cstdint>
#include <memory>

#include "workloads/language/decoder.h"

namespace doetune::workloads {

/// See make_language_model.
std::unique_ptr<LanguageModel> make_gpu_language_model(const DecoderShape& shape,
                                                       std::uint64_t seed, Precision precision);

}  // namespace doetune::workloads
