#include "surfaces/optimum/relaxations.h"

#include <algorithm>
#include <cmath>

#include "surfaces/optimum/best_points.h"
#include "surfaces/optimum/score.h"

namespace doetune::surfaces {
namespace {

/// A ramp towards the limit over the whole predicted range.
Goal towards(const Goal& limit, Interval predicted) {
  Goal ramp;
  ramp.scale = limit.scale;
  ramp.low = predicted.low;
  ramp.high = predicted.high;
  if (limit.type == GoalType::kAtMost) ramp.type = GoalType::kMinimize;
  if (limit.type == GoalType::kAtLeast) ramp.type = GoalType::kMaximize;
  if (limit.type != GoalType::kWithin) return ramp;
  ramp.type = GoalType::kTarget;
  ramp.target = (limit.low + limit.high) / 2;
  const double reach =
      std::max(std::abs(predicted.high - ramp.target), std::abs(ramp.target - predicted.low));
  ramp.low = ramp.target - reach;
  ramp.high = ramp.target + reach;
  return ramp;
}

}  // namespace

std::vector<Relaxation> relaxations(const OptimumRequest& request) {
  const std::vector<Interval> ranges = predicted_ranges(request);
  std::vector<Relaxation> relaxations;
  for (std::size_t r = 0; r < request.responses.size(); ++r) {
    if (!counts(request.responses[r]) || !request.responses[r].goal->is_limit()) continue;
    OptimumRequest relaxed = request;
    for (GoalResponse& response : relaxed.responses) {
      if (response.goal && !response.goal->is_limit()) response.goal.reset();
    }
    relaxed.responses[r].goal = towards(*request.responses[r].goal, ranges[r]);
    const Optimum nearest = find_optimum(relaxed);
    relaxations.push_back({request.responses[r].name, nearest.feasible,
                           nearest.best.predictions[r].mean,
                           assess(request, nearest.best.settings)});
  }
  return relaxations;
}

}  // namespace doetune::surfaces
