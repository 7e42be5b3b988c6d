// Problems that searches are tested on.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tuning/problem.h"

namespace doetune::tuning {

inline doe::Factor levels_factor(std::string name, std::vector<double> levels) {
  doe::Factor factor;
  factor.name = std::move(name);
  factor.kind = doe::FactorKind::kDiscrete;
  factor.levels = std::move(levels);
  factor.low = factor.levels.front();
  factor.high = factor.levels.back();
  return factor;
}

inline Objective objective(std::string name, doe::GoalType type) {
  Objective objective{std::move(name), {}, surfaces::Transform::kNone};
  objective.goal.type = type;
  return objective;
}

inline Objective at_most(std::string name, double high) {
  Objective limit = objective(std::move(name), doe::GoalType::kAtMost);
  limit.goal.high = high;
  limit.goal.confidence = 0.9;
  return limit;
}

/// y of two factors of 11 levels each, to be maximised.
inline Problem plane_problem() {
  std::vector<double> levels;
  for (int level = 0; level <= 10; ++level) levels.push_back(level);
  Problem problem;
  problem.factors = {levels_factor("a", levels), levels_factor("b", levels)};
  problem.region = doe::Region(problem.factors, {}, {});
  problem.objectives = {objective("y", doe::GoalType::kMaximize)};
  problem.infeasible_when.resize(2);
  return problem;
}

/// A smooth hill with its top, 100, at a = 7, b = 3.
inline double hill(const Settings& settings) {
  const double a = settings[0] - 7, b = settings[1] - 3;
  return 100 - a * a - 2 * b * b - a * b;
}

}  // namespace doetune::tuning
