// Conversion of floats to E4M3, numbers of 8 bits: a sign, 4 bits of exponent with bias 7, 3 of the
// fraction, no infinity (Micikevicius et al. 2022, arXiv:2209.05433). vectors.h converts them back.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace doetune::workloads::language {

inline constexpr float kLargestFloat8 = 448;

/// The nearest number of 8 bits, ties to even; beyond the largest, the largest. NaN stays NaN.
constexpr std::uint8_t to_float8(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = bits >> 24 & 0x80U;
  const float magnitude = std::min(std::bit_cast<float>(bits & 0x7FFFFFFFU), kLargestFloat8);
  const auto kept = std::bit_cast<std::uint32_t>(magnitude);
  std::uint32_t rest = 0x7F;  // NaN
  if (magnitude < 0x1p-6F) {
    // The last bit of 2^14 is worth as much as that of a subnormal number: the sum rounds to it.
    constexpr float kRound = 0x1p14F;
    rest = std::bit_cast<std::uint32_t>(magnitude + kRound) - std::bit_cast<std::uint32_t>(kRound);
  } else if (magnitude <= kLargestFloat8) {
    rest = ((kept + 0x7FFFFU + (kept >> 20 & 1U)) >> 20) - ((127U - 7U) << 3);
  }
  return static_cast<std::uint8_t>(sign | rest);
}

}  // namespace doetune::workloads::language
