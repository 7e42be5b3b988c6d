#include "base/random.h"

#include <numeric>
#include <utility>

namespace doetune {

RandomStream::RandomStream(std::uint64_t seed, std::uint64_t stream)
    : state_(mix_bits(seed + kGoldenGamma) ^ mix_bits(mix_bits(stream + 1) + kGoldenGamma)) {}

std::uint64_t RandomStream::next() { return mix_bits(state_ += kGoldenGamma); }

std::uint64_t RandomStream::below(std::uint64_t bound) {
  // Values below 2^64 mod bound would bias the result towards small remainders: reject them.
  const std::uint64_t rejected = (0 - bound) % bound;
  std::uint64_t drawn = next();
  while (drawn < rejected) drawn = next();
  return drawn % bound;
}

double RandomStream::uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

std::vector<int> random_permutation(int n, RandomStream& random) {
  std::vector<int> order(n);
  std::iota(order.begin(), order.end(), 0);
  for (int i = n - 1; i > 0; --i) {
    std::swap(order[i], order[random.below(static_cast<std::uint64_t>(i) + 1)]);
  }
  return order;
}

}  // namespace doetune
