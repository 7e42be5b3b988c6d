// Tornado chart data: predicted responses when a single factor is one step off the optimum.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "analysis/analysis.h"

namespace doetune::analysis {

struct SwingEnd {
  double setting = 0;   ///< natural units
  double mean = 0;      ///< predicted, in the unit of the response
  double known_to = 0;  ///< half-width of its 95 % interval, 0 without one
};

/// `down` or `up` is empty if the step would leave the factor's range or the region, or if a run
/// there is less likely to complete than recommended settings must be.
struct FactorSwing {
  std::size_t factor = 0;
  std::optional<SwingEnd> down, up;

  /// The larger of the two absolute changes.
  double reach(double centre) const {
    const auto change = [&](const std::optional<SwingEnd>& end) {
      return end ? std::abs(end->mean - centre) : 0;
    };
    return std::max(change(down), change(up));
  }
};

struct Tornado {
  const ResponseAnalysis* response = nullptr;
  double centre = 0;                ///< predicted at the optimum
  double centre_known_to = 0;       ///< half-width of its 95 % interval, 0 without one
  std::vector<FactorSwing> swings;  ///< largest reach first
};

/// One for each response with a surface; empty without an optimum or if no factor can move.
std::vector<Tornado> tornados(const Analysis& analysis);

}  // namespace doetune::analysis
