#include "tuning/acquisition.h"

#include <algorithm>
#include <cmath>

#include "base/parallel.h"
#include "surfaces/distributions.h"

namespace doetune::tuning {
namespace {

constexpr std::size_t kNormals = 16;
constexpr Eigen::Index kTogether = 256;  // points of a task

/// Standard normal quantiles in the middle of equal parts.
std::vector<double> normal_points() {
  std::vector<double> points;
  for (std::size_t i = 0; i < kNormals; ++i) {
    points.push_back(surfaces::normal_value((static_cast<double>(i) + 0.5) / kNormals));
  }
  return points;
}

/// The probability that a normal variable lies between two ends; where it underflows, a number that
/// still decreases with the distance in deviations, which orders hopeless points.
double probability_between(double mean, double deviation, double low, double high) {
  constexpr double kUnderflow = 1e-100;
  const double to_low = (low - mean) / deviation, to_high = (high - mean) / deviation;
  const double probability = std::isinf(high) ? surfaces::normal_probability(-to_low)
                                              : surfaces::normal_probability(to_high) -
                                                    surfaces::normal_probability(to_low);
  return std::max(probability, kUnderflow / (1 + std::max({0.0, to_low, -to_high})));
}

/// The probability that the mean lies between two ends, at each point.
Eigen::VectorXd probability_between(const Means& means, double low, double high) {
  Eigen::VectorXd sums = Eigen::VectorXd::Zero(means.mean.rows());
  for (Eigen::Index draw = 0; draw < means.mean.cols(); ++draw) {
    for (Eigen::Index i = 0; i < sums.size(); ++i) {
      const double mean = means.mean(i, draw);
      const double deviation = std::max(means.deviation(i, draw), 1e-12 * (1 + std::abs(mean)));
      sums[i] += probability_between(mean, deviation, low, high);
    }
  }
  return sums / static_cast<double>(means.mean.cols());
}

/// E[max(0, y - from)] of y ~ N(mean, deviation^2). Source: Jones, Schonlau & Welch (1998), J.
/// Global Optim. 13, 455.
double normal_excess(double mean, double deviation, double from) {
  if (!(deviation > 0)) return std::max(0.0, mean - from);
  const double z = (mean - from) / deviation;
  return std::max(0.0,
                  deviation * (z * surfaces::normal_probability(z) + surfaces::normal_density(z)));
}

}  // namespace

Acquisition::Acquisition(const Problem& problem, const SurrogateModels& models,
                         const Utility& utility, const Eigen::MatrixXd& coded, Draws draws)
    : problem_(problem), utility_(utility), completes_(models.completion(coded)) {
  for (const std::size_t o : utility.goals()) means_.push_back(models.means(o, coded, draws));
  set_limits_met(models, coded, draws);
}

void Acquisition::set_limits_met(const SurrogateModels& models, const Eigen::MatrixXd& coded,
                                 Draws draws) {
  meets_limits_ = Eigen::VectorXd::Ones(coded.rows());
  for (std::size_t o = 0; o < problem_.objectives.size(); ++o) {
    const surfaces::Goal& goal = models.goal(o);
    if (!goal.is_limit()) continue;
    const auto [low, high] = surfaces::transformed_range(problem_.objectives[o].transform,
                                                         goal.met_low(), goal.met_high());
    meets_limits_.array() *= probability_between(models.means(o, coded, draws), low, high).array();
  }
}

double Acquisition::response(std::size_t g, double value) const {
  return surfaces::back_transformed(problem_.objectives[utility_.goals()[g]].transform, value);
}

void Acquisition::expect(Eigen::Index i, Eigen::Index draw, std::vector<double>& responses) const {
  responses.resize(means_.size());
  for (std::size_t g = 0; g < means_.size(); ++g) {
    responses[g] = response(g, means_[g].mean(i, draw));
  }
}

std::optional<Incumbent> Acquisition::incumbent() const {
  if (completes_.size() == 0) return std::nullopt;
  const double enough = std::min(problem_.feasibility, completes_.maxCoeff());
  std::vector<Eigen::Index> allowed;
  for (Eigen::Index i = 0; i < meets_limits_.size(); ++i) {
    if (meets_limits_[i] >= 0.5 && completes_[i] >= enough) allowed.push_back(i);
  }
  if (allowed.empty()) return std::nullopt;
  Incumbent best{Eigen::RowVectorXd(draws())};
  std::vector<double> responses;
  for (Eigen::Index draw = 0; draw < draws(); ++draw) {
    std::vector<std::vector<double>> points;
    double highest = -std::numeric_limits<double>::infinity();
    for (const Eigen::Index i : allowed) {
      expect(i, draw, responses);
      if (problem_.front) {
        points.push_back(utility_.heights(responses));
      } else {
        highest = std::max(highest, utility_.of(responses));
      }
    }
    if (problem_.front) best.fronts.emplace_back(points);
    best.utility[draw] = problem_.front ? best.fronts.back().volume() : highest;
  }
  return best;
}

bool Acquisition::has_closed_form() const {
  if (problem_.front || means_.size() > 1) return false;
  const Objective& objective = problem_.objectives[utility_.goals().front()];
  return objective.goal.type != doe::GoalType::kTarget &&
         (objective.transform == surfaces::Transform::kNone ||
          objective.transform == surfaces::Transform::kLog);
}

double Acquisition::closed_form(const Incumbent& incumbent, Eigen::Index i,
                                double inflation) const {
  const Utility::Line line = utility_.line();
  const double sign = line.slope > 0 ? 1 : -1;
  const bool is_log =
      problem_.objectives[utility_.goals().front()].transform == surfaces::Transform::kLog;
  const Means& means = means_.front();
  double sum = 0;
  for (Eigen::Index draw = 0; draw < draws(); ++draw) {
    const double best = line.response(incumbent.utility[draw]);
    const double mean = means.mean(i, draw), deviation = inflation * means.learnt(i, draw);
    sum += is_log ? best * normal_excess(sign * mean, deviation, sign * std::log(best))
                  : normal_excess(sign * mean, deviation, sign * best);
  }
  return std::abs(line.slope) * sum / static_cast<double>(draws());
}

/// Different goals take different normal numbers, so that their errors are independent.
double Acquisition::improvement(const Incumbent& incumbent, Eigen::Index i,
                                double inflation) const {
  if (has_closed_form()) return closed_form(incumbent, i, inflation);
  static const std::vector<double> kPoints = normal_points();
  std::vector<double> responses(means_.size());
  double sum = 0;
  for (Eigen::Index draw = 0; draw < draws(); ++draw) {
    for (std::size_t point = 0; point < kNormals; ++point) {
      for (std::size_t g = 0; g < means_.size(); ++g) {
        const std::size_t other =
            (point * (1 + 2 * g) + 5 * g * static_cast<std::size_t>(draw)) % kNormals;
        responses[g] = response(
            g, means_[g].mean(i, draw) + inflation * kPoints[other] * means_[g].learnt(i, draw));
      }
      sum += problem_.front ? incumbent.fronts[static_cast<std::size_t>(draw)].added_by(
                                  utility_.heights(responses))
                            : std::max(0.0, utility_.of(responses) - incumbent.utility[draw]);
    }
  }
  return sum / static_cast<double>(static_cast<std::size_t>(draws()) * kNormals);
}

Eigen::VectorXd Acquisition::worth(const std::optional<Incumbent>& incumbent,
                                   double inflation) const {
  Eigen::VectorXd worth = completes_.cwiseProduct(meets_limits_);
  if (!incumbent) return worth;
  const Eigen::Index count = worth.size();
  parallel_for(static_cast<int>((count + kTogether - 1) / kTogether), problem_.threads, [&](int t) {
    const Eigen::Index first = t * kTogether;
    for (Eigen::Index i = first; i < std::min(count, first + kTogether); ++i) {
      worth[i] = worth[i] > kHopeless ? worth[i] * improvement(*incumbent, i, inflation) : 0;
    }
  });
  return worth;
}

}  // namespace doetune::tuning
