// Counter-based random numbers: the value at (seed, index) never depends on who asked before.
#pragma once

#include <cstdint>

// A GPU's kernels draw the same numbers.
#ifdef __CUDACC__
#define DOETUNE_RANDOM __host__ __device__ constexpr
#else
#define DOETUNE_RANDOM constexpr
#endif

namespace doetune::workloads {

/// 64 well-mixed bits of (seed, index). Source: the finaliser of SplitMix64 (Steele, Lea & Flood,
/// 2014).
DOETUNE_RANDOM std::uint64_t random_bits(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t z = seed * 0xD1342543DE82EF95ULL + (index + 1) * 0x9E3779B97F4A7C15ULL;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

/// Uniform in [0, 1).
DOETUNE_RANDOM float random_unit(std::uint64_t seed, std::uint64_t index) {
  return static_cast<float>(random_bits(seed, index) >> 40) * 0x1p-24F;
}

/// Uniform in 0 .. count - 1 (to within count / 2^32).
DOETUNE_RANDOM std::uint64_t random_below(std::uint64_t seed, std::uint64_t index,
                                          std::uint64_t count) {
  return ((random_bits(seed, index) >> 32) * count) >> 32;
}

}  // namespace doetune::workloads
