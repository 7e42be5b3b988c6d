// Dropout masks from a counter-based generator: the same on every engine, in any order and on any
// number of processes.
#pragma once

#include <cstdint>

#include "base/random.h"

namespace doetune::workloads {

/// The key of one layer's input in one step. `step` counts the updates before it.
DOETUNE_RANDOM std::uint64_t dropout_key(std::uint64_t seed, std::int64_t step, int layer) {
  constexpr std::uint64_t kPurpose = 0x64726F706F7574ULL;  // distinct from the seed's other uses
  return random_bits(random_bits(random_bits(seed, kPurpose), static_cast<std::uint64_t>(step)),
                     static_cast<std::uint64_t>(layer));
}

/// The factor of an element: 0 with probability p, else 1 / (1 - p), 0 <= p < 1, which preserves
/// the mean. `index` is ((image height + y) width + x) channels + channel, where images are counted
/// over all processes that share the batch. Source: Srivastava et al. (2014), inverted form.
DOETUNE_RANDOM float dropout_factor(std::uint64_t key, std::uint64_t index, float p) {
  return random_unit(key, index) < p ? 0.0F : 1.0F / (1.0F - p);
}

}  // namespace doetune::workloads
