// Strips of 16 numbers as vectors of any width: one source for every instruction set. A function's
// target selects the instructions; everything here is compiled into it.
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>

#define DOETUNE_INLINE inline __attribute__((always_inline))
/// Before a short loop over vectors, which stay in registers only where it is unrolled.
#define DOETUNE_UNROLL _Pragma("GCC unroll 16")

namespace doetune::workloads::language {

template <int kLanes>
using Floats [[gnu::vector_size(4 * kLanes)]] = float;
template <int kLanes>
using Words [[gnu::vector_size(4 * kLanes)]] = std::int32_t;
template <int kLanes>
using Halves [[gnu::vector_size(2 * kLanes)]] = std::uint16_t;
template <int kLanes>
using Shorts [[gnu::vector_size(2 * kLanes)]] = std::int16_t;
template <int kLanes>
using Bytes [[gnu::vector_size(kLanes)]] = std::int8_t;
template <int kLanes>
using UnsignedBytes [[gnu::vector_size(kLanes)]] = std::uint8_t;

inline constexpr int kStrip = 16;

template <int kLanes>
DOETUNE_INLINE void load(const float* from, Floats<kLanes>& to) {
  std::memcpy(&to, from, sizeof to);
}

/// In two steps, which GCC compiles to half as many instructions as one.
template <int kLanes, class From>
DOETUNE_INLINE void widen(const From& bytes, Words<kLanes>& words) {
  words = __builtin_convertvector(__builtin_convertvector(bytes, Shorts<kLanes>), Words<kLanes>);
}

/// bfloat16.
template <int kLanes>
DOETUNE_INLINE void load(const std::uint16_t* from, Floats<kLanes>& to) {
  Halves<kLanes> halves;
  std::memcpy(&halves, from, sizeof halves);
  const Words<kLanes> bits = __builtin_convertvector(halves, Words<kLanes>) << 16;
  std::memcpy(&to, &bits, sizeof to);
}

template <int kLanes>
DOETUNE_INLINE void load(const std::int8_t* from, Floats<kLanes>& to) {
  Bytes<kLanes> bytes;
  std::memcpy(&bytes, from, sizeof bytes);
  Words<kLanes> words;
  widen<kLanes>(bytes, words);
  to = __builtin_convertvector(words, Floats<kLanes>);
}

/// E4M3 (float8.h).
template <int kLanes>
DOETUNE_INLINE void load(const std::uint8_t* from, Floats<kLanes>& to) {
  UnsignedBytes<kLanes> codes;
  std::memcpy(&codes, from, sizeof codes);
  Words<kLanes> words;
  widen<kLanes>(codes, words);
  const Words<kLanes> sign = (words & 0x80) << 24;
  const Words<kLanes> rest = words & 0x7F;
  const Words<kLanes> bits = (rest << 20) + ((127 - 7) << 23);
  Floats<kLanes> magnitude;
  std::memcpy(&magnitude, &bits, sizeof bits);
  // Exponent 0 stands for exponent 1 without the leading 1; only there, this is less.
  const Floats<kLanes> subnormal = 2 * magnitude - 0x1p-6F;
  magnitude = subnormal < magnitude ? subnormal : magnitude;
  magnitude = rest == 0x7F ? Floats<kLanes>{} + std::numeric_limits<float>::quiet_NaN() : magnitude;
  Words<kLanes> result;
  std::memcpy(&result, &magnitude, sizeof magnitude);
  result |= sign;
  std::memcpy(&to, &result, sizeof result);
}

template <int kLanes>
DOETUNE_INLINE void store(const Floats<kLanes>& from, float* to) {
  std::memcpy(to, &from, sizeof from);
}

template <int kLanes>
DOETUNE_INLINE float sum_of(const Floats<kLanes>& vector) {
  float sum = 0;
  for (int i = 0; i < kLanes; ++i) sum += vector[i];
  return sum;
}

/// Sets x to exp(x), to within 3e-7 of it; below -87 to exp(-87). For x up to 88. With n the whole
/// number nearest to x / ln 2 and r the rest, exp(x) = 2^n exp(r), |r| < 0.35: a Taylor polynomial.
template <int kLanes>
DOETUNE_INLINE void exponential(Floats<kLanes>& x) {
  constexpr float kLowest = -87;
  constexpr float kLog2E = 1.44269504F;
  constexpr float kLn2High = 0.693359375F;  // the two add up to ln 2; the first has few digits
  constexpr float kLn2Low = -2.12194440e-4F;
  constexpr float kRound = 0x1.8p23F;  // adding it rounds to integers, in the last bits
  x = x < kLowest ? Floats<kLanes>{} + kLowest : x;
  const Floats<kLanes> shifted = x * kLog2E + kRound;
  const Floats<kLanes> n = shifted - kRound;
  const Floats<kLanes> r = (x - n * kLn2High) - n * kLn2Low;
  Floats<kLanes> p = r * (1.0F / 5040) + 1.0F / 720;
  p = p * r + 1.0F / 120;
  p = p * r + 1.0F / 24;
  p = p * r + 1.0F / 6;
  p = p * r + 0.5F;
  p = p * r + 1.0F;
  p = p * r + 1.0F;
  Words<kLanes> bits;
  Words<kLanes> exponent;
  std::memcpy(&bits, &p, sizeof bits);
  std::memcpy(&exponent, &shifted, sizeof exponent);
  bits += exponent << 23;
  std::memcpy(&x, &bits, sizeof x);
}

}  // namespace doetune::workloads::language
