#include "analysis/trade_off.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "analysis/format.h"
#include "analysis/reference_point.h"

namespace doetune::analysis {
namespace {

constexpr std::size_t kShortFront = 3;

/// Costs of both responses at the points of the Pareto front, or in the measured runs.
struct Costs {
  std::vector<double> first, second;
};

Costs costs_on_front(const Analysis& analysis, const GoalPair& pair) {
  Costs costs;
  const auto cost_in = [&](const ResponseAnalysis& response, const surfaces::Candidate& candidate) {
    const std::string& name = response.response.name;
    return surfaces::cost(analysis.goals.at(name), prediction_of(candidate, name)->mean);
  };
  for (const surfaces::ParetoPoint& point : analysis.details->pareto.points) {
    costs.first.push_back(cost_in(*pair.first, point.candidate));
    costs.second.push_back(cost_in(*pair.second, point.candidate));
  }
  return costs;
}

Costs costs_of_runs(const Analysis& analysis, const GoalPair& pair) {
  Costs costs;
  const std::string& first = pair.first->response.name;
  const std::string& second = pair.second->response.name;
  for (const auto& [run, record] : analysis.records) {
    const auto a = record.responses.find(first), b = record.responses.find(second);
    if (a == record.responses.end() || b == record.responses.end()) continue;
    costs.first.push_back(surfaces::cost(analysis.goals.at(first), a->second));
    costs.second.push_back(surfaces::cost(analysis.goals.at(second), b->second));
  }
  return costs;
}

double correlation(const Costs& costs) {
  if (costs.first.empty()) return 0;
  const auto centred = [](const std::vector<double>& values) {
    const auto v = Eigen::Map<const Eigen::ArrayXd>(values.data(), values.size());
    return Eigen::ArrayXd(v - v.mean());
  };
  const Eigen::ArrayXd a = centred(costs.first), b = centred(costs.second);
  const double norm = std::sqrt(a.square().sum() * b.square().sum());
  return norm > 0 ? (a * b).sum() / norm : 0;
}

double agreement(const Analysis& analysis, const GoalPair& pair) {
  const bool has_front = analysis.details && analysis.details->pareto.points.size() >= kShortFront;
  return correlation(has_front ? costs_on_front(analysis, pair) : costs_of_runs(analysis, pair));
}

/// "latency better by 4 ± 1 ms", or "energy not significantly different (+1 ± 3 J)".
std::string change_text(const Analysis& analysis, const surfaces::Gain& gain, double at_best) {
  const std::string& unit = unit_of(analysis, gain.name);
  const surfaces::Goal* goal = goal_of(analysis, gain.name);
  const double half = half_width(gain.interval);
  if (gain.interval && gain.interval->low <= 0 && gain.interval->high >= 0) {
    return fmt::format("{} not significantly different ({}{} ± {})", gain.name,
                       gain.difference < 0 ? "" : "+", number_to(gain.difference, half),
                       with_unit(number_to(half, half), unit));
  }
  const double change = goal == nullptr ? 0
                                        : surfaces::cost(*goal, at_best + gain.difference) -
                                              surfaces::cost(*goal, at_best);
  const char* direction = change < 0            ? "better by "
                          : change > 0          ? "worse by "
                          : gain.difference < 0 ? "lower by "
                                                : "higher by ";
  const std::string size = number_to(std::abs(gain.difference), half);
  return fmt::format("{} {}{}", gain.name, direction,
                     gain.interval
                         ? fmt::format("{} ± {}", size, with_unit(number_to(half, half), unit))
                         : with_unit(size, unit));
}

}  // namespace

std::vector<GoalPair> goal_pairs(const Analysis& analysis) {
  std::vector<const ResponseAnalysis*> sought;
  for (const ResponseAnalysis& response : analysis.responses) {
    if (response.surface() != nullptr && goal_of(analysis, response.response.name) != nullptr) {
      sought.push_back(&response);
    }
  }
  std::vector<GoalPair> pairs;
  for (std::size_t i = 0; i < sought.size(); ++i) {
    for (std::size_t j = i + 1; j < sought.size(); ++j) {
      pairs.push_back({sought[i], sought[j], 0});
      pairs.back().agreement = agreement(analysis, pairs.back());
    }
  }
  std::stable_sort(pairs.begin(), pairs.end(),
                   [](const GoalPair& a, const GoalPair& b) { return a.agreement < b.agreement; });
  return pairs;
}

std::vector<std::size_t> front_of(const Analysis& analysis, const GoalPair& pair) {
  if (!analysis.details) return {};
  const Costs costs = costs_on_front(analysis, pair);
  std::vector<std::size_t> order(costs.first.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(costs.first[a], costs.second[a]) < std::pair(costs.first[b], costs.second[b]);
  });
  std::vector<std::size_t> front;
  for (const std::size_t i : order) {
    if (front.empty() || costs.second[i] < costs.second[front.back()]) front.push_back(i);
  }
  return front;
}

std::string alternative_text(const Analysis& analysis, std::size_t alternative) {
  const surfaces::Optimum& optimum = *analysis.optimum;
  const std::vector<doe::Factor>& factors = factors_of(analysis);
  const std::vector<double>& settings = optimum.alternatives[alternative].settings;
  constexpr std::size_t kMaxFactors = 6;
  std::vector<std::string> differing;
  std::string changes;
  for (std::size_t f = 0; f < factors.size(); ++f) {
    if (settings[f] == optimum.best.settings[f]) continue;
    differing.push_back(fmt::format("{} instead of {}", setting_text(factors[f], settings[f]),
                                    factors[f].format(optimum.best.settings[f])));
  }
  if (differing.size() > kMaxFactors + 1) {
    const std::size_t more = differing.size() - kMaxFactors;
    differing.resize(kMaxFactors);
    differing.push_back(fmt::format("{} more factors changed", more));
  }
  for (const surfaces::Gain& gain : analysis.details->alternative_gains[alternative]) {
    const surfaces::ResponsePrediction* best = prediction_of(optimum.best, gain.name);
    changes += (changes.empty() ? "" : "; ") + change_text(analysis, gain, best->mean);
  }
  return fmt::format("With {}: {}.", fmt::join(differing, ", "), changes);
}

}  // namespace doetune::analysis
