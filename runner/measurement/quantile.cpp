#include "runner/measurement/quantile.h"

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <cmath>
#include <stdexcept>
#include <vector>

namespace doetune::measurement {
namespace {

/// P(B <= k) for B binomial with n and p.
double at_most(std::size_t k, std::size_t n, double p) {
  if (k >= n) return 1;
  return boost::math::cdf(boost::math::binomial(static_cast<double>(n), p), static_cast<double>(k));
}

void check_probability(double p) {
  if (!(p > 0 && p < 1)) throw std::invalid_argument("a probability must be between 0 and 1");
}

/// The smallest number from `low` for which `holds` is true; `holds` must be monotone.
template <class Holds>
std::size_t first(std::size_t low, std::size_t high, Holds holds) {
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (holds(middle))
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

}  // namespace

std::size_t min_count(double q, double confidence) {
  check_probability(q);
  check_probability(confidence);
  const double beyond = std::min(q, 1 - q);
  const auto enough = [&](std::size_t n) { return at_most(1, n, beyond) <= 1 - confidence; };
  std::size_t high = 2;
  while (!enough(high)) high *= 2;
  return first(high / 2, high, enough);
}

std::optional<QuantileInterval> quantile_interval(std::span<const double> values, double q,
                                                  double confidence) {
  const std::size_t n = values.size();
  if (n < min_count(q)) return std::nullopt;
  check_probability(confidence);
  const double outside = (1 - confidence) / 2;
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  // P(B < l) exceeds `outside` from some l on; its predecessor is needed.
  const std::size_t above =
      first(1, n, [&](std::size_t l) { return at_most(l - 1, n, q) > outside; });
  const std::size_t high =
      first(1, n, [&](std::size_t u) { return 1 - at_most(u - 1, n, q) <= outside; });
  const auto rank = static_cast<std::size_t>(std::ceil(q * static_cast<double>(n)));
  return QuantileInterval{sorted[rank - 1], sorted[std::max<std::size_t>(above, 2) - 2],
                          sorted[high - 1]};
}

}  // namespace doetune::measurement
