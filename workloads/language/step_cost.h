// What a step of a decoder moves and computes at least: its roofline.
#pragma once

#include <cstdint>
#include <optional>

#include "workloads/language/decoder.h"
#include "workloads/networks/roofline.h"

namespace doetune::workloads {

/// The size of a step. Every new token has a score with each token of its sequence up to itself.
struct StepSize {
  int tokens = 0;           ///< that pass through the layers
  int prompt_tokens = 0;    ///< those of them that are parts of prompts
  int predictions = 0;      ///< of next tokens
  std::int64_t cached = 0;  ///< tokens in the cache that are read, those of the step included
  std::int64_t scores = 0;  ///< pairs of tokens

  /// A segment of `count` tokens of a sequence from `position` on.
  void add(int position, int count, bool predict);
};

struct StepCost {
  double bytes = 0;       ///< weights and cache, each read once
  double roofline_s = 0;  ///< at the peak rates
};

/// The weights of all products are read once in a step, those of the logits only if there are
/// predictions; activations are not counted. The roofline's time (Williams, Waterman & Patterson
/// 2009, Commun. ACM 52 (4), 65) is the sum over the products and the attention of the layers, of
/// the larger of operations over their rate and bytes over theirs; 0 without peak rates.
StepCost cost_of(const DecoderShape& shape, const StepSize& size, Precision weights,
                 CacheType cache, const std::optional<PeakRates>& peak_rates);

}  // namespace doetune::workloads
