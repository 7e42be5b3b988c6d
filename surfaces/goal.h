// What is wanted of a response, as a number between 0 (useless) and 1 (as wanted).
#pragma once

#include <limits>

#include "doe/response.h"

namespace doetune::surfaces {

using doe::GoalType;

/// Derringer & Suich (1980) desirability, with limits kept apart from ramps.
///
///   maximize  d = ((y - low) / (high - low))^weight, clipped to [0, 1]
///   minimize  d = ((high - y) / (high - low))^weight, clipped to [0, 1]
///   target    the lower of the two ramps that rise from low to target and fall from there to high
///   limits    d = 1 where met; outside it falls from 1 to 0 over the scale of the response
struct Goal {
  GoalType type = GoalType::kMaximize;
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  double target = 0;
  double weight = 1;
  double importance = 1;
  double scale = 1;  ///< range of the response in the region, own unit, > 0

  bool is_limit() const;
  bool is_met(double y) const;       ///< limits: low <= y <= high; ramps: desirability > 0
  double violation(double y) const;  ///< limits: how far outside, in units of scale; ramps: 0
  double desirability(double y) const;
  double shortfall(double y) const;  ///< ramps: how far y lies where d = 0, in units of high - low
  double excess(double y) const;     ///< ramps: how far y lies beyond d = 1, in units of high - low
  double met_low() const;            ///< the interval of y in which the goal counts as met
  double met_high() const;
};

}  // namespace doetune::surfaces
