#include "tuning/utility.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace doetune::tuning {
namespace {

constexpr double kLowest = 0.01;
constexpr double kOfRange = 0.1;  ///< of a best response near 0 no fraction is small

using Range = std::pair<double, double>;

Range measured_range(const Objective& objective, const std::vector<Observation>& so_far) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const Observation& observation : so_far) {
    const auto value = observation.values.find(objective.name);
    if (!observation.completed || value == observation.values.end()) continue;
    low = std::min(low, value->second);
    high = std::max(high, value->second);
  }
  return {low, high};
}

/// The ends of the goal's ramp where it has them, but never a worst end that is better than the
/// worst value measured: what was measured would have a utility far below 0.
Range range_of(const Objective& objective, const std::vector<Observation>& so_far) {
  const surfaces::Goal& goal = objective.goal;
  const Range measured = measured_range(objective, so_far);
  auto [low, high] = measured;
  if (std::isfinite(goal.low))
    low = goal.type == doe::GoalType::kMinimize ? goal.low : std::min(low, goal.low);
  if (std::isfinite(goal.high))
    high = goal.type == doe::GoalType::kMaximize ? goal.high : std::max(high, goal.high);
  if (low < high) return {low, high};
  if (measured.first < measured.second) return measured;
  if (!std::isfinite(low) || low != high) return {0.0, 1.0};
  const double half = std::max(1.0, std::abs(low));  // as ends of their own, however large
  return {low - half, low + half};
}

}  // namespace

Utility::Utility(const Problem& problem, const std::vector<Observation>& so_far)
    : objectives_(problem.objectives) {
  for (std::size_t o = 0; o < objectives_.size(); ++o) {
    if (objectives_[o].goal.is_limit()) continue;
    goals_.push_back(o);
    ranges_.push_back(range_of(objectives_[o], so_far));
  }
}

double Utility::height(std::size_t g, double response) const {
  const auto [low, high] = ranges_[g];
  const surfaces::Goal& goal = objectives_[goals_[g]].goal;
  switch (goal.type) {
    case doe::GoalType::kMinimize:
      return (high - response) / (high - low);
    case doe::GoalType::kTarget:
      return 1 - std::abs(response - goal.target) / (high - low);
    default:
      return (response - low) / (high - low);
  }
}

double Utility::of(const std::vector<double>& responses) const {
  if (is_single()) return height(0, responses[0]);
  double sum = 0, importance = 0;
  for (std::size_t g = 0; g < goals_.size(); ++g) {
    const double weight = objectives_[goals_[g]].goal.importance;
    sum += weight * std::log(std::max(kLowest, height(g, responses[g])));
    importance += weight;
  }
  return std::exp(sum / importance);
}

std::vector<double> Utility::heights(const std::vector<double>& responses) const {
  std::vector<double> heights(goals_.size());
  for (std::size_t g = 0; g < goals_.size(); ++g) {
    heights[g] = height(g, responses[g]) + kBelowWorst;
  }
  return heights;
}

Utility::Line Utility::line() const {
  const auto [low, high] = ranges_[0];
  const bool minimize = objectives_[goals_[0]].goal.type == doe::GoalType::kMinimize;
  return minimize ? Line{high, -1 / (high - low)} : Line{low, 1 / (high - low)};
}

double Utility::relative(double improvement, double best) const {
  if (!is_single()) return improvement / std::max(best, kLowest);
  if (objectives_[goals_[0]].goal.type == doe::GoalType::kTarget) return improvement;
  const double range = 1 / std::abs(line().slope);
  return improvement * range / std::max(std::abs(line().response(best)), kOfRange * range);
}

std::optional<double> Utility::of(const Observation& observation) const {
  if (!observation.completed) return std::nullopt;
  std::vector<double> responses;
  for (const Objective& objective : objectives_) {
    const auto value = observation.values.find(objective.name);
    if (value == observation.values.end()) return std::nullopt;
    if (!objective.goal.is_limit()) {
      responses.push_back(value->second);
    } else if (!objective.goal.is_met(value->second)) {
      return std::nullopt;
    }
  }
  return of(responses);
}

std::optional<std::size_t> best_measured(const Problem& problem,
                                         const std::vector<Observation>& so_far) {
  const Utility utility(problem, so_far);
  std::optional<std::size_t> best;
  double highest = 0;
  for (std::size_t i = 0; i < so_far.size(); ++i) {
    const auto value = utility.of(so_far[i]);
    if (!value || (best && *value <= highest)) continue;
    if (std::any_of(so_far.begin(), so_far.end(), [&](const Observation& other) {
          return !other.completed && other.settings == so_far[i].settings;
        }))
      continue;
    best = i;
    highest = *value;
  }
  return best;
}

}  // namespace doetune::tuning
