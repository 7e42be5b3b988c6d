#include "surfaces/optimum/range_ends.h"

#include <algorithm>

#include "surfaces/optimum/comparison.h"

namespace doetune::surfaces {
namespace {

constexpr double kInwardStep = 0.02;  // coded: a hundredth of the range

/// 1 if more of a response is better, -1 if less is, 0 if it decides nothing.
double better_side(const Goal& goal, double mean) {
  switch (goal.type) {
    case GoalType::kMaximize:
      return 1;
    case GoalType::kMinimize:
      return -1;
    case GoalType::kTarget:
      return mean < goal.target ? 1 : mean > goal.target ? -1 : 0;
    default:
      break;
  }
  return mean < goal.met_low() ? 1 : mean > goal.met_high() ? -1 : 0;
}

bool is_towards(double side, const Gain& gain) {
  if (!gain.interval) return side * gain.difference > 0;
  return side > 0 ? gain.interval->low > 0 : side < 0 && gain.interval->high < 0;
}

}  // namespace

std::vector<std::string> improving_ends(const OptimumRequest& request, const Optimum& optimum) {
  std::vector<std::string> improving;
  for (std::size_t f = 0; f < request.factors.size(); ++f) {
    const doe::Factor& factor = request.factors[f];
    const auto& at_bound = optimum.at_bound;
    if (std::find(at_bound.begin(), at_bound.end(), factor.name) == at_bound.end()) continue;
    std::vector<double> inside = optimum.best.settings;
    const double coded = factor.to_coded(inside[f]);
    inside[f] = factor.to_natural(coded > 0 ? coded - kInwardStep : coded + kInwardStep);
    const std::vector<Gain> changes = gains(request, optimum.best.settings, inside);
    for (std::size_t r = 0; r < changes.size(); ++r) {
      const std::optional<Goal>& goal = request.responses[r].goal;
      const double mean = optimum.best.predictions[r].mean;
      if (!goal || !is_towards(better_side(*goal, mean), changes[r])) continue;
      improving.push_back(factor.name);
      break;
    }
  }
  return improving;
}

}  // namespace doetune::surfaces
