#include "surfaces/optimum/robustness.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "doe/design.h"
#include "surfaces/optimum/joint_errors.h"
#include "surfaces/optimum/score.h"
#include "surfaces/optimum/settings_search.h"

namespace doetune::surfaces {
namespace {

constexpr std::size_t kAllCombinations = 8;
constexpr double kCodedStep = 0.1;  ///< a twentieth of the range

void check(const OptimumRequest& request, const std::map<std::string, double>& tolerances) {
  for (const auto& [name, tolerance] : tolerances) {
    const auto factor =
        std::find_if(request.factors.begin(), request.factors.end(),
                     [&, wanted = name](const auto& f) { return f.name == wanted; });
    if (factor == request.factors.end() || factor->is_categorical()) {
      throw std::invalid_argument(fmt::format("there is no numeric factor '{}'", name));
    }
    if (!(tolerance > 0)) {
      throw std::invalid_argument(fmt::format("the tolerance of '{}' must be above 0", name));
    }
  }
}

FactorMoves moves_of(const doe::Factor& factor, std::size_t f, double setting,
                     const std::map<std::string, double>& tolerances) {
  FactorMoves moves{f, {}, {}};
  const auto stated = tolerances.find(factor.name);
  if (stated != tolerances.end()) {
    if (setting > factor.low) moves.down = std::max(factor.low, setting - stated->second);
    if (setting < factor.high) moves.up = std::min(factor.high, setting + stated->second);
    return moves;
  }
  if (factor.kind == doe::FactorKind::kContinuous && factor.step == 0) {
    const double coded = factor.to_coded(setting);
    const double down = factor.snap(factor.to_natural(std::max(-1.0, coded - kCodedStep)));
    const double up = factor.snap(factor.to_natural(std::min(1.0, coded + kCodedStep)));
    if (down < setting) moves.down = down;
    if (up > setting) moves.up = up;
    return moves;
  }
  for (const double usable : factor.usable_settings()) {
    if (usable < setting) moves.down = usable;
    if (usable > setting && !moves.up) moves.up = usable;
  }
  return moves;
}

/// Adds every point with each of these factors moved or not.
void add_combinations(std::vector<Settings>& points, const std::vector<FactorMoves>& moves) {
  for (const FactorMoves& move : moves) {
    const std::size_t before = points.size();
    for (const std::optional<double>& setting : {move.down, move.up}) {
      if (!setting) continue;
      for (std::size_t i = 0; i < before; ++i) {
        points.push_back(points[i]);
        points.back()[move.factor] = *setting;
      }
    }
  }
}

std::vector<Settings> moved_settings(const OptimumRequest& request, const Settings& settings,
                                     const std::vector<FactorMoves>& moves) {
  std::vector<Settings> points{settings};
  if (moves.size() <= kAllCombinations) {
    add_combinations(points, moves);
  } else {
    for (std::size_t f = 0; f < moves.size(); ++f) {
      for (std::size_t g = f + 1; g < moves.size(); ++g) {
        std::vector<Settings> of_two{settings};
        add_combinations(of_two, {moves[f], moves[g]});
        points.insert(points.end(), of_two.begin() + 1, of_two.end());
      }
    }
  }
  std::erase_if(points, [&](const Settings& point) {
    return point != settings && !request.region.allows(point);
  });
  return points;
}

double transmitted(const OptimumRequest& request, const Surface& surface, const Settings& settings,
                   const std::vector<FactorMoves>& moves) {
  const auto response_at = [&](std::size_t f, std::optional<double> setting) {
    Settings point = settings;
    point[f] = setting.value_or(point[f]);
    return surface.response(doe::coded_point(request.factors, point));
  };
  double variance = 0;
  for (const FactorMoves& move : moves) {
    const double change = response_at(move.factor, move.up) - response_at(move.factor, move.down);
    const double steps = (move.up ? 1 : 0) + (move.down ? 1 : 0);
    if (steps > 0) variance += std::pow(change / steps, 2);
  }
  return std::sqrt(variance);
}

/// Whether the high end of a range suits a goal better than the low end.
bool prefers_high(const Goal& goal, Interval range) {
  const auto merit = [&](double y) {
    return goal.is_limit() ? -std::max(goal.met_low() - y, y - goal.met_high())
                           : goal.desirability(y) - goal.shortfall(y) + goal.excess(y);
  };
  return merit(range.high) > merit(range.low);
}

RobustResponse robust_response(const GoalResponse& response, const std::vector<Settings>& points,
                               const Eigen::MatrixXd& coded) {
  const Eigen::VectorXd values = response.surface->responses(coded);
  Eigen::Index lowest = 0, highest = 0;
  RobustResponse result{response.name, {}, {}, {}, 0};
  result.range = {values.minCoeff(&lowest), values.maxCoeff(&highest)};
  if (!response.goal) return result;
  const Eigen::Index worst = prefers_high(*response.goal, result.range) ? lowest : highest;
  result.worst = values[worst];
  result.worst_at = points[static_cast<std::size_t>(worst)];
  return result;
}

/// The point at which the limits are least likely to be met if errors were independent.
Eigen::Index min_likely(const OptimumRequest& request, const Eigen::MatrixXd& coded) {
  Eigen::VectorXd products = Eigen::VectorXd::Ones(coded.rows());
  for (const GoalResponse& response : request.responses) {
    if (!response.goal || !response.goal->is_limit()) continue;
    const std::vector<Prediction> predictions = response.surface->predictions(coded);
    for (std::size_t i = 0; i < predictions.size(); ++i) {
      products[static_cast<Eigen::Index>(i)] *=
          predictions[i]
              .probability_within(response.goal->met_low(), response.goal->met_high())
              .value_or(1);
    }
  }
  Eigen::Index least = 0;
  products.minCoeff(&least);
  return least;
}

}  // namespace

Robustness robustness(const OptimumRequest& request, const Settings& settings,
                      const std::map<std::string, double>& tolerances) {
  check(request, tolerances);
  std::vector<FactorMoves> moves;
  for (std::size_t f = 0; f < request.factors.size(); ++f) {
    const doe::Factor& factor = request.factors[f];
    if (factor.is_categorical() || request.hold.count(factor.name) > 0) continue;
    moves.push_back(moves_of(factor, f, settings[f], tolerances));
  }
  const std::vector<Settings> points = moved_settings(request, settings, moves);
  Eigen::MatrixXd coded(points.size(), request.factors.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    coded.row(static_cast<Eigen::Index>(i)) =
        doe::coded_point(request.factors, points[i]).transpose();
  }
  Robustness robustness;
  robustness.moved_settings = points.size();
  robustness.moves = moves;
  for (const GoalResponse& response : request.responses) {
    robustness.responses.push_back(robust_response(response, points, coded));
    robustness.responses.back().transmitted =
        transmitted(request, *response.surface, settings, moves);
  }
  if (request.feasibility) robustness.min_feasibility = request.feasibility(coded).minCoeff();
  OptimumRequest by_means = request;  // whether a run completes is min_feasibility
  by_means.feasibility = {};
  const std::vector<Score> all = Scorer(by_means).scores(coded);
  robustness.limits_met_fraction =
      static_cast<double>(std::count_if(all.begin(), all.end(),
                                        [](const Score& score) { return score.violation == 0; })) /
      static_cast<double>(all.size());
  const JointErrors joint(request.responses);
  for (const Eigen::Index i : {Eigen::Index{0}, min_likely(request, coded)}) {
    const auto met = joint.all_limits_met(coded.row(i), SettingsAre::kChosen);
    auto& least = robustness.min_all_goals_met_probability;
    if (met) least = std::min(*met, least.value_or(*met));
  }
  return robustness;
}

}  // namespace doetune::surfaces
