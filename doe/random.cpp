#include "doe/random.h"

#include <numeric>
#include <utility>

namespace doetune::doe {
namespace {

std::uint64_t mixed(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

constexpr std::uint64_t kIncrement = 0x9e3779b97f4a7c15ULL;

}  // namespace

RandomStream::RandomStream(std::uint64_t seed, std::uint64_t stream)
    : state_(mixed(seed + kIncrement) ^ mixed(mixed(stream + 1) + kIncrement)) {}

std::uint64_t RandomStream::next() { return mixed(state_ += kIncrement); }

std::uint64_t RandomStream::below(std::uint64_t bound) {
  // Numbers under 2^64 mod bound would make the low remainders likelier: draw those again.
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

}  // namespace doetune::doe
