// Conversion of floats to bfloat16 and back.
#pragma once

#include <bit>
#include <cstdint>

namespace doetune::workloads {

/// The nearest bfloat16 (8 bits of significand), ties to even. NaN stays NaN.
constexpr std::uint16_t to_bfloat16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const bool nan = (bits & 0x7FFFFFFFU) > 0x7F800000U;
  const std::uint32_t rounded = bits + 0x7FFFU + ((bits >> 16) & 1U);
  return static_cast<std::uint16_t>((nan ? bits | 0x00400000U : rounded) >> 16);
}

constexpr float from_bfloat16(std::uint16_t bits) {
  return std::bit_cast<float>(std::uint32_t{bits} << 16);
}

}  // namespace doetune::workloads
