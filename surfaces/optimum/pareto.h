// Trade-offs between goals: the Pareto front.
#pragma once

#include <cstddef>
#include <vector>

#include "surfaces/optimum.h"

namespace doetune::surfaces {

/// The cost of a response for a goal (ramp or limit) treated as a direction: smaller is better.
double cost(const Goal& goal, double y);

struct ParetoPoint {
  Candidate candidate;
  /// The probability that none of the other listed points is truly better in every goal, from draws
  /// of the mean responses (joint_errors.h).
  double non_dominated_probability = 1;
};

/// What limits are in a front: directions to improve in, or constraints that every point meets.
enum class LimitsAre { kDirections, kConstraints };

struct ParetoFront {
  std::vector<ParetoPoint> points;  ///< ordered by the first goal, its best first
  bool complete = true;             ///< every usable setting was evaluated
};

/// The settings that are non-dominated by the mean predictions: no others are as good in every goal
/// and better in one. A goal is a direction (cost): at most and minimize mean smaller is better, at
/// least and maximize larger, target and within closer. If limits are directions too, the front
/// shows what relaxing a limit would gain, and candidates state which limits they miss; if they are
/// constraints, its points are those that meet all of them. Thinned to `most` points evenly spread
/// over the ranges of the responses, including the best of each goal; of these, without points that
/// another is better than in one goal and no worse in the others, by more than 0.1 % of the range.
/// Empty for fewer than two
/// directions, and if no setting meets the constraints. Up to 1,000,000 usable settings are all
/// evaluated, beyond that a coarse grid. Source: Chomicki et al. (2003), Skyline with Presorting,
/// for the search. Throws like find_optimum.
ParetoFront pareto_front(const OptimumRequest& request, LimitsAre limits = LimitsAre::kDirections,
                         std::size_t most = 50);

}  // namespace doetune::surfaces
