// What a response becomes where a single factor is one usable step off the optimum.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "analysis/analysis.h"

namespace doetune::analysis {

struct SwingEnd {
  double setting = 0;   ///< natural units
  double mean = 0;      ///< predicted, own unit
  double known_to = 0;  ///< half the width of its 95 % interval, 0 without one
};

/// An end is empty where the factor's range or the region ends.
struct FactorSwing {
  std::size_t factor = 0;
  std::optional<SwingEnd> down, up;

  /// The larger of both changes.
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
  double centre_known_to = 0;       ///< half the width of its 95 % interval, 0 without one
  std::vector<FactorSwing> swings;  ///< the farthest first
};

/// One a response with a surface; none without an optimum, or where no factor can move.
std::vector<Tornado> tornados(const Analysis& analysis);

}  // namespace doetune::analysis
