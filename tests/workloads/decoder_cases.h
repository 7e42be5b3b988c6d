// What tests of decoders share.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "workloads/language/shape.h"

namespace doetune::workloads {

inline constexpr std::uint64_t kSeed = 7;

/// Three queries for each key; heads of 16 elements.
inline constexpr DecoderShape kGrouped{2, 96, 6, 2, 160, 301, 96, 1e4, false};

/// The norm of the difference relative to that of the expected logits.
inline double difference(const std::vector<float>& actual, const std::vector<double>& expected) {
  double squares = 0, size = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    squares += std::pow(static_cast<double>(actual[i]) - expected[i], 2);
    size += std::pow(expected[i], 2);
  }
  return std::sqrt(squares / size);
}

}  // namespace doetune::workloads
