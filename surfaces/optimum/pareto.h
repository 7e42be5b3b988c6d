// What one goal costs another: the Pareto front.
#pragma once

#include <cstddef>
#include <vector>

#include "surfaces/optimum.h"

namespace doetune::surfaces {

/// What a goal makes of a response, taken for a direction: the lower the better, limit or ramp.
double cost(const Goal& goal, double y);

struct ParetoPoint {
  Candidate candidate;
  /// That none of the other points listed is truly better in every goal, by draws of the mean
  /// responses (joint_errors.h).
  double non_dominated_probability = 1;
};

struct ParetoFront {
  std::vector<ParetoPoint> points;  ///< in the order of the first goal, its best first
  bool complete = true;             ///< every usable setting was looked at
};

/// The settings that no others beat by the mean predictions: no others are as good in every goal
/// and better in one. Every goal is a direction here (cost), whether a ramp or a limit: at most and
/// minimize the lower the better, at least and maximize the higher, target and within the nearer.
/// So the front shows what relaxing a limit would bring; candidates say which miss limits. Thinned
/// to `most` points evenly spread over the ranges of the responses, the best of each goal among
/// them. Empty for fewer than two goals. Up to 1,000,000 usable settings are all looked at, of more
/// a coarse grid. Source: Chomicki et al. (2003), Skyline with Presorting, for the search. Throws
/// like find_optimum.
ParetoFront pareto_front(const OptimumRequest& request, std::size_t most = 50);

}  // namespace doetune::surfaces
