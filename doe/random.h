// Random numbers that depend on a seed and an index only, never on thread or machine.
#pragma once

#include <cstdint>
#include <vector>

namespace doetune::doe {

/// A stream of 64-bit numbers: the n-th is a hash of (seed, stream, n).
/// Source of the mixing function: Steele, Lea & Flood (2014), SplitMix64.
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

}  // namespace doetune::doe
