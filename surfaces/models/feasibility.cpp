#include "surfaces/models/feasibility.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <set>
#include <stdexcept>
#include <utility>

#include "base/random.h"
#include "surfaces/distributions.h"
#include "surfaces/models/headroom.h"
#include "surfaces/models/trends.h"
#include "surfaces/quantiles.h"

namespace doetune::surfaces {
namespace {

constexpr int kMaxQuadraticColumns = 100;
constexpr Eigen::Index kMaxRuns = 1'000;
constexpr double kMainDeviation = 10, kOtherDeviation = 3;  // of the priors
constexpr int kStepsPerDraw = 10, kFirstSteps = 400;
constexpr std::uint64_t kSeed = 77;

using Probabilities = Eigen::Array<double, Eigen::Dynamic, Eigen::Dynamic>;

doe::Model model_of(const std::vector<doe::Factor>& factors) {
  doe::Model quadratic = doe::Model::named("quadratic", factors);
  if (quadratic.column_count() <= kMaxQuadraticColumns) return quadratic;
  return doe::Model::named("linear", factors);
}

Eigen::VectorXd prior_deviations(const doe::Model& model) {
  Eigen::VectorXd deviations(model.column_count());
  for (int c = 0; c < model.column_count(); ++c) {
    const int order = model.terms()[static_cast<std::size_t>(model.columns()[c].term)].order();
    deviations[c] = order <= 1 ? kMainDeviation : kOtherDeviation;
  }
  return deviations;
}

/// Draws from the posterior by elliptical slice sampling.
class Sampler {
 public:
  /// `signed_rows` are the rows of the model matrix, negated for runs that did not complete.
  Sampler(Eigen::MatrixXd signed_rows, Eigen::VectorXd deviations, const Trends& trends)
      : rows_(std::move(signed_rows)),
        deviations_(std::move(deviations)),
        trends_(trends),
        random_(kSeed, 0),
        now_{Eigen::VectorXd::Zero(deviations_.size()), Eigen::VectorXd::Zero(rows_.rows())},
        other_(now_),
        next_(now_) {
    log_likelihood_ = log_likelihood(now_.eta);
  }

  void step() {
    for (Eigen::Index i = 0; i < deviations_.size(); ++i) {
      other_.beta[i] = deviations_[i] * normal_draw(random_.uniform());
    }
    other_.eta.noalias() = rows_ * other_.beta;
    move_on_ellipse();
  }

  const Eigen::VectorXd& beta() const { return now_.beta; }

 private:
  /// -sum ln(1 + exp(-eta)) without overflow: ln(1 + exp(-|eta|)) - min(eta, 0), with one logarithm
  /// for many runs, each of which at most doubles the product.
  static double log_likelihood(const Eigen::VectorXd& eta) {
    constexpr Eigen::Index kTogether = 512;
    double sum = -eta.cwiseMin(0).sum();
    for (Eigen::Index first = 0; first < eta.size(); first += kTogether) {
      const auto some = eta.segment(first, std::min(kTogether, eta.size() - first)).array();
      sum += std::log((1 + (-some.abs()).exp()).prod());
    }
    return -sum;
  }

  /// From now_ towards other_; the vectors are kept, since a fit makes thousands of moves.
  void move_on_ellipse() {
    const double least = log_likelihood_ + std::log(1 - random_.uniform());
    double angle = 2 * std::numbers::pi * random_.uniform();
    double low = angle - 2 * std::numbers::pi, high = angle;
    while (angle != 0) {  // where nothing has moved, which is always allowed
      const double c = std::cos(angle), s = std::sin(angle);
      next_.beta = c * now_.beta + s * other_.beta;
      if (trends_.allow(next_.beta)) {
        next_.eta = c * now_.eta + s * other_.eta;
        if (const double likelihood = log_likelihood(next_.eta); likelihood >= least) {
          std::swap(now_, next_);
          log_likelihood_ = likelihood;
          return;
        }
      }
      (angle < 0 ? low : high) = angle;
      angle = low + (high - low) * random_.uniform();
    }
  }

  struct Position {
    Eigen::VectorXd beta, eta;  ///< eta: the log odds of what happened, per run
  };

  Eigen::MatrixXd rows_;
  Eigen::VectorXd deviations_;
  const Trends& trends_;
  RandomStream random_;
  Position now_, other_, next_;
  double log_likelihood_ = 0;  ///< of now_
};

/// The runs that are used: at most kMaxRuns, evenly spread over their order.
struct UsedRuns {
  UsedRuns(const Eigen::MatrixXd& all, const std::vector<bool>& all_completed,
           const Eigen::VectorXd& all_headroom) {
    const Eigen::Index count = std::min(all.rows(), kMaxRuns);
    std::vector<Eigen::Index> runs;
    for (Eigen::Index i = 0; i < count; ++i) {
      runs.push_back(i * all.rows() / count);
      completed.push_back(all_completed[static_cast<std::size_t>(runs.back())]);
    }
    coded = all(runs, Eigen::all);
    if (all_headroom.size() > 0) headroom = all_headroom(runs);
  }

  bool have_headroom() const { return headroom.array().isFinite().count() >= kMinReadings; }

  Eigen::MatrixXd coded;
  std::vector<bool> completed;
  Eigen::VectorXd headroom;
};

Eigen::MatrixXd posterior_draws(const doe::Model& model, const UsedRuns& runs,
                                const InfeasibleDirections& infeasible_when, int count) {
  Eigen::MatrixXd rows = model.matrix(runs.coded);
  if (runs.have_headroom()) {
    return headroom_draws(model, rows, runs.completed, runs.headroom, infeasible_when, count);
  }
  for (Eigen::Index i = 0; i < rows.rows(); ++i) {
    if (!runs.completed[static_cast<std::size_t>(i)]) rows.row(i) *= -1;
  }
  const Trends trends(model, infeasible_when);
  Sampler sampler(rows, prior_deviations(model), trends);
  for (int i = 0; i < kFirstSteps; ++i) sampler.step();
  Eigen::MatrixXd draws(model.column_count(), count);
  for (int draw = 0; draw < count; ++draw) {
    for (int i = 0; i < kStepsPerDraw; ++i) sampler.step();
    draws.col(draw) = sampler.beta();
  }
  return draws;
}

std::string note_of(const Feasibility& fit) {
  const int runs = fit.completed + fit.infeasible;
  if (fit.infeasible == 0 && !fit.by_headroom) {
    return fmt::format("all {} runs completed: they show no limit to what can be run", runs);
  }
  if (fit.completed == 0) {
    return fmt::format("none of {} runs completed: run settings that are known to work", runs);
  }
  return fmt::format("{} of {} runs completed{}", fit.completed, runs,
                     fit.by_headroom ? ", and how far they were from the capacity is known" : "");
}

/// The number of runs at each point where all completed.
std::map<std::vector<double>, int> completed_points(const Eigen::MatrixXd& coded,
                                                    const std::vector<bool>& completed) {
  std::map<std::vector<double>, int> points;
  std::set<std::vector<double>> infeasible;
  for (Eigen::Index i = 0; i < coded.rows(); ++i) {
    const Eigen::VectorXd row = coded.row(i);
    std::vector<double> point(row.begin(), row.end());
    if (completed[static_cast<std::size_t>(i)]) {
      ++points[std::move(point)];
    } else {
      infeasible.insert(std::move(point));
    }
  }
  std::erase_if(points, [&](const auto& entry) { return infeasible.contains(entry.first); });
  return points;
}

}  // namespace

Feasibility fit_feasibility(const std::vector<doe::Factor>& factors, const Eigen::MatrixXd& coded,
                            const std::vector<bool>& completed,
                            const InfeasibleDirections& infeasible_when, int draws,
                            const Eigen::VectorXd& headroom) {
  if (completed.empty()) throw std::invalid_argument("no run shows what can be run");
  Feasibility fit;
  fit.model = model_of(factors);
  fit.completed = static_cast<int>(std::count(completed.begin(), completed.end(), true));
  fit.infeasible = static_cast<int>(completed.size()) - fit.completed;
  const UsedRuns used(coded, completed, headroom);
  fit.by_headroom = used.have_headroom();
  fit.note = note_of(fit);
  fit.draws = posterior_draws(fit.model, used, infeasible_when, draws);
  fit.infeasible_when = infeasible_when;
  fit.completed_at = completed_points(coded, completed);
  for (int c = 0; c < fit.model.column_count(); ++c) {
    const std::vector<double> values(fit.draws.row(c).begin(), fit.draws.row(c).end());
    fit.terms.push_back(
        {fit.model.columns()[c].name, quantile(values, 0.5), central_interval(values, 0.95)});
  }
  return fit;
}

Eigen::VectorXd Feasibility::probabilities(const Eigen::MatrixXd& coded) const {
  constexpr Eigen::Index kRows = 32;  // whose temporaries stay in the cache and in the heap
  Eigen::VectorXd probabilities(coded.rows());
  for (Eigen::Index first = 0; first < coded.rows(); first += kRows) {
    const Eigen::Index rows = std::min(kRows, coded.rows() - first);
    const Probabilities eta = (model.matrix(coded.middleRows(first, rows)) * draws).array();
    probabilities.segment(first, rows) = (1 + (-eta).exp()).inverse().rowwise().mean();
  }
  for (Eigen::Index i = 0; i < coded.rows(); ++i) {
    const double ratio = odds_ratio(coded.row(i).transpose());
    probabilities[i] *= ratio / (1 + (ratio - 1) * probabilities[i]);
  }
  return probabilities;
}

Eigen::MatrixXd Feasibility::drawn_probabilities(const Eigen::MatrixXd& coded) const {
  Eigen::MatrixXd drawn = model.matrix(coded) * draws;
  for (Eigen::Index i = 0; i < coded.rows(); ++i) {
    const double ratio = odds_ratio(coded.row(i).transpose());
    drawn.row(i) = (1 + (-drawn.row(i).array()).exp() / ratio).inverse();
  }
  return drawn;
}

bool is_no_harder(std::span<const double> x, std::span<const double> other,
                  const InfeasibleDirections& infeasible_when) {
  for (std::size_t k = 0; k < x.size(); ++k) {
    const double difference = x[k] - other[k];
    if (difference == 0) continue;
    if (k >= infeasible_when.size() || !infeasible_when[k]) return false;
    if ((difference > 0) == (infeasible_when[k] == doe::InfeasibleWhen::kHigher)) return false;
  }
  return true;
}

double Feasibility::odds_ratio(const Eigen::Ref<const Eigen::VectorXd>& coded_point) const {
  const std::span<const double> x(coded_point.data(), static_cast<std::size_t>(coded_point.size()));
  int runs = 0;
  for (const auto& [point, count] : completed_at) {
    if (is_no_harder(x, point, infeasible_when)) runs += count;
  }
  return std::pow(kRanThere, runs);
}

double Feasibility::probability(const Eigen::Ref<const Eigen::VectorXd>& coded_point) const {
  return probabilities(coded_point.transpose())[0];
}

Interval Feasibility::interval(const Eigen::Ref<const Eigen::VectorXd>& coded_point,
                               double level) const {
  const Eigen::RowVectorXd eta = model.row(coded_point) * draws;
  std::vector<double> values(eta.begin(), eta.end());
  const double ratio = odds_ratio(coded_point);
  for (double& value : values) value = 1 / (1 + std::exp(-value) / ratio);
  return central_interval(std::move(values), level);
}

}  // namespace doetune::surfaces
