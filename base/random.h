// Random numbers that depend only on a seed and an index, never on thread or machine.
// Source of the mixing function: Steele, Lea & Flood (2014), "Fast splittable pseudorandom number
// generators" (SplitMix64).
#pragma once

#include <cstdint>
#include <vector>

// GPU kernels draw the same numbers.
#ifdef __CUDACC__
#define DOETUNE_RANDOM __host__ __device__ constexpr
#else
#define DOETUNE_RANDOM constexpr
#endif

namespace doetune {

/// The finaliser of SplitMix64: a bijection of 64-bit numbers whose output looks random.
DOETUNE_RANDOM std::uint64_t mix_bits(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

/// The increment of SplitMix64: 2^64 divided by the golden ratio, odd.
inline constexpr std::uint64_t kGoldenGamma = 0x9E3779B97F4A7C15ULL;

/// 64 random bits for (seed, index), independent of earlier draws.
DOETUNE_RANDOM std::uint64_t random_bits(std::uint64_t seed, std::uint64_t index) {
  return mix_bits(seed * 0xD1342543DE82EF95ULL + (index + 1) * 0x9E3779B97F4A7C15ULL);
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

/// A stream of 64-bit numbers: the n-th is a hash of (seed, stream, n).
class RandomStream {
 public:
  RandomStream(std::uint64_t seed, std::uint64_t stream);

  std::uint64_t next();

  /// Uniform on 0 .. bound - 1 without bias, bound >= 1.
  std::uint64_t below(std::uint64_t bound);

  /// Uniform on [0, 1), 53 bits.
  double uniform();

 private:
  std::uint64_t state_;
};

/// A random permutation of 0 .. n - 1 (Fisher-Yates).
std::vector<int> random_permutation(int n, RandomStream& random);

}  // namespace doetune
