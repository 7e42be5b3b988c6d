#include "surfaces/optimum/quadratic_goal.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "surfaces/optimum/score.h"

namespace doetune::surfaces {
namespace {

constexpr std::size_t kMaxLevels = 1'000;

/// The only optimised response, if its goal is maximize or minimize; otherwise null.
const GoalResponse* only_goal(const OptimumRequest& request) {
  const GoalResponse* only = nullptr;
  for (const GoalResponse& response : request.responses) {
    if (!counts(response)) continue;
    const GoalType type = response.goal->type;
    if (only || (type != GoalType::kMaximize && type != GoalType::kMinimize)) return nullptr;
    only = &response;
  }
  return only;
}

}  // namespace

std::optional<QuadraticGoal> QuadraticGoal::of(const OptimumRequest& request) {
  QuadraticGoal goal;
  goal.response_ = only_goal(request);
  if (!goal.response_ || !request.region.is_box() || request.feasibility) return std::nullopt;
  const std::vector<Settings> all_choices = usable_choices(request.factors, request.hold);
  const auto k = static_cast<Eigen::Index>(request.factors.size());
  goal.levels_.push_back(Eigen::VectorXd::Zero(k));
  std::vector<double> low, high;
  for (Eigen::Index f = 0; f < k; ++f) {
    const doe::Factor& factor = request.factors[static_cast<std::size_t>(f)];
    const Settings& choices = all_choices[static_cast<std::size_t>(f)];
    if (!factor.is_categorical()) {
      goal.numeric_.push_back(f);
      low.push_back(factor.to_coded(choices.front()));
      high.push_back(factor.to_coded(choices.back()));
      continue;
    }
    std::vector<Eigen::VectorXd> extended;
    for (const double level : choices) {
      for (Eigen::VectorXd point : goal.levels_) {
        point[f] = level;
        extended.push_back(std::move(point));
      }
    }
    goal.levels_ = std::move(extended);
    if (goal.levels_.size() > kMaxLevels) return std::nullopt;
  }
  const auto numeric = static_cast<Eigen::Index>(low.size());
  if (numeric == 0 || numeric > kMaxBoxFactors) return std::nullopt;
  const Surface& surface = *goal.response_->surface;
  if (!surface.quadratic(goal.levels_.front())) return std::nullopt;
  const bool turned =
      surface.predict(goal.levels_.front()).transform == Transform::kInverse;  // decreases as y
                                                                               // increases
  goal.sign_ = (goal.response_->goal->type == GoalType::kMaximize) == turned ? -1 : 1;
  goal.low_ = Eigen::Map<const Eigen::VectorXd>(low.data(), numeric);
  goal.high_ = Eigen::Map<const Eigen::VectorXd>(high.data(), numeric);
  return goal;
}

BoxOptimum QuadraticGoal::best(
    const std::function<QuadraticForm(std::size_t)>& quadratic_at) const {
  BoxOptimum best{{}, -std::numeric_limits<double>::infinity()};
  for (std::size_t i = 0; i < levels_.size(); ++i) {
    const QuadraticForm all = quadratic_at(i);
    const QuadraticForm q{sign_ * all.constant, sign_ * all.linear(numeric_),
                          sign_ * all.second(numeric_, numeric_)};
    const BoxOptimum top = highest_in_box(q, low_, high_);
    if (top.value <= best.value) continue;
    best = {levels_[i], top.value};
    best.at(numeric_) = top.at;
  }
  return best;
}

BoxOptimum QuadraticGoal::best() const {
  return best([&](std::size_t i) { return *response_->surface->quadratic(levels_[i]); });
}

Eigen::MatrixXd usable_around(const OptimumRequest& request, const SettingsSearch& search,
                              const Eigen::VectorXd& coded) {
  constexpr Eigen::Index kMaxPoints = 4096;
  Eigen::MatrixXd points = Eigen::RowVectorXd::Zero(coded.size());
  for (std::size_t f = 0; f < request.factors.size(); ++f) {
    const auto column = static_cast<Eigen::Index>(f);
    const Settings& choices = search.choices()[f];
    const doe::Factor& factor = request.factors[f];
    // The first usable setting at or above the point, up to rounding.
    const auto above = std::find_if(choices.begin(), choices.end(), [&](double setting) {
      return factor.to_coded(setting) >= coded[column] - 1e-12;
    });
    const double up = above == choices.end() ? choices.back() : *above;
    const double down = above == choices.begin() ? up : *(above - 1);
    const bool is_usable = std::abs(factor.to_coded(up) - coded[column]) <= 1e-12;
    points.col(column).setConstant(up);
    if (is_usable || factor.is_categorical() || 2 * points.rows() > kMaxPoints) continue;
    const Eigen::Index before = points.rows();
    points.conservativeResize(2 * before, Eigen::NoChange);
    points.bottomRows(before) = points.topRows(before);
    points.col(column).tail(before).setConstant(down);
  }
  return points;
}

}  // namespace doetune::surfaces
