// Goals of a response as desirability functions between 0 (unacceptable) and 1 (fully met).
#pragma once

#include <limits>

#include "doe/response.h"

namespace doetune::surfaces {

using doe::GoalType;

/// Derringer & Suich (1980) desirability, with limits separate from ramps.
///
///   maximize  d = ((y - low) / (high - low))^weight, clipped to [0, 1]
///   minimize  d = ((high - y) / (high - low))^weight, clipped to [0, 1]
///   target    the minimum of two ramps, rising from low to target and falling from target to high
///   limits    d = 1 if met; outside d falls from 1 to 0 over the scale of the response
struct Goal {
  GoalType type = GoalType::kMaximize;
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  double target = 0;
  double weight = 1;
  double importance = 1;
  double scale = 1;       ///< range of the response in the region, own unit, > 0
  double confidence = 0;  ///< limits: the probability with which they are to be met; 0: none asked
  doe::LimitOf of = doe::LimitOf::kRun;
  bool is_stated = true;  ///< ramps: the end with d = 0 was given, not taken from the responses
  double slack = 0;       ///< limits: missed by no more, own unit, counts as met

  bool is_limit() const;
  bool is_met(double y) const;  ///< limits: low <= y <= high, within the slack; ramps: desirability
                                ///< > 0, or no end that was stated
  double violation(double y) const;  ///< limits: how far outside, in units of scale; ramps: 0
  double desirability(double y) const;
  double shortfall(double y) const;  ///< ramps: distance of y into the region d = 0, in units of
                                     ///< high - low
  double excess(double y) const;     ///< ramps: distance of y beyond d = 1, in units of high - low
  double met_low() const;            ///< the interval of y in which the goal is met
  double met_high() const;

  /// Sets the scale, and the ends that a ramp does not have, from the lowest and highest response
  /// there is; a ramp to a target is symmetric and reaches the end farther from the target.
  void close(double lowest, double highest);
};

}  // namespace doetune::surfaces
