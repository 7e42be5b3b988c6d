// Reference implementation of language models: plain double-precision loops without a cache, that
// engines are compared with.
#pragma once

#include <span>
#include <vector>

#include "workloads/language/decoder.h"

namespace doetune::workloads {

/// The logits of the token after `tokens`, by the definitions in shape.h, with keys and values that
/// are rounded as in a cache of that type. `weights` is the block of decoder_weights.h.
std::vector<double> reference_logits(const DecoderShape& shape, std::span<const float> weights,
                                     std::span<const int> tokens,
                                     CacheType cache = CacheType::fp32);

/// The numbers of E4M3 (Micikevicius et al. 2022, arXiv:2209.05433) from 0 to 448, by their codes.
std::vector<double> float8_numbers();

/// The `count` most likely tokens after a prompt, one after the other.
std::vector<int> reference_answer(const DecoderShape& shape, std::span<const float> weights,
                                  std::vector<int> prompt, int count);

}  // namespace doetune::workloads
