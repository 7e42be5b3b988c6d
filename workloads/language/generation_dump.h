// What another framework needs to generate the same answers.
#pragma once

#include <filesystem>
#include <span>

#include "workloads/language/continuous_batch.h"

namespace doetune::workloads {

/// Writes into `directory` the model, shape.json and weights.f32 (the block of decoder_weights.h,
/// unrounded), and answers.json: an array of {"prompt": [token], "answer": [token]}.
void dump_generation(const std::filesystem::path& directory, const DecoderShape& shape,
                     std::uint64_t seed, std::span<const Generation> generations);

}  // namespace doetune::workloads
