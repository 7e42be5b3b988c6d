#include "tuning/utility.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace doetune::tuning {
namespace {

constexpr double kLowest = 0.01;

std::pair<double, double> range_of(const Objective& objective,
                                   const std::vector<Observation>& so_far) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const Observation& observation : so_far) {
    const auto value = observation.values.find(objective.name);
    if (!observation.completed || value == observation.values.end()) continue;
    low = std::min(low, value->second);
    high = std::max(high, value->second);
  }
  if (std::isfinite(objective.goal.low)) low = objective.goal.low;
  if (std::isfinite(objective.goal.high)) high = objective.goal.high;
  if (low < high) return {low, high};
  return std::isfinite(low) && low == high ? std::pair(low - 1, low + 1) : std::pair(0.0, 1.0);
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

double Utility::relative(double improvement, double best) const {
  if (!is_single()) return improvement / std::max(best, kLowest);
  const auto [low, high] = ranges_[0];
  const surfaces::Goal& goal = objectives_[goals_[0]].goal;
  if (goal.type == doe::GoalType::kTarget) return improvement;
  const double response = goal.type == doe::GoalType::kMinimize ? high - best * (high - low)
                                                                : low + best * (high - low);
  return response == 0 ? improvement : improvement * (high - low) / std::abs(response);
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
    best = i;
    highest = *value;
  }
  return best;
}

}  // namespace doetune::tuning
