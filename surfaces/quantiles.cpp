#include "surfaces/quantiles.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace doetune::surfaces {

double quantile(std::vector<double> draws, double fraction) {
  const auto at = draws.begin() + std::lround(fraction * static_cast<double>(draws.size() - 1));
  std::nth_element(draws.begin(), at, draws.end());
  return *at;
}

Interval central_interval(std::vector<double> draws, double level) {
  const double low = quantile(draws, (1 - level) / 2);
  return {low, quantile(std::move(draws), (1 + level) / 2)};
}

}  // namespace doetune::surfaces
