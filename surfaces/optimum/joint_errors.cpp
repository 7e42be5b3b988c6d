#include "surfaces/optimum/joint_errors.h"
#include "surfaces/models/posterior.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <stdexcept>

#include "surfaces/distributions.h"
#include "surfaces/optimum/normal_box.h"

namespace doetune::surfaces {
namespace {

constexpr int kMinCommon = 3;

/// The pairs of columns of two responses' errors that belong to the same run.
std::vector<std::pair<Eigen::Index, Eigen::Index>> common_runs(const std::vector<int>& a,
                                                               const std::vector<int>& b) {
  std::vector<std::pair<Eigen::Index, Eigen::Index>> common;
  if (a == b) {
    for (Eigen::Index i = 0; i < static_cast<Eigen::Index>(a.size()); ++i)
      common.emplace_back(i, i);
    return common;
  }
  std::map<int, Eigen::Index> of_b;
  for (std::size_t i = 0; i < b.size(); ++i) of_b[b[i]] = static_cast<Eigen::Index>(i);
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto found = of_b.find(a[i]);
    if (found != of_b.end()) common.emplace_back(static_cast<Eigen::Index>(i), found->second);
  }
  return common;
}

std::vector<int> runs_of(const GoalResponse& response) {
  if (!response.runs.empty()) return response.runs;
  std::vector<int> runs(static_cast<std::size_t>(response.surface->run_residuals().size()));
  std::iota(runs.begin(), runs.end(), 0);
  return runs;
}

/// The normal value with the same cumulative probability as t.
double as_normal(double t, double df) {
  // By the lower tail, where probabilities keep their precision.
  return t > 0 ? -normal_value(t_probability(-t, df)) : normal_value(t_probability(t, df));
}

}  // namespace

JointErrors::JointErrors(const std::vector<GoalResponse>& responses) : responses_(responses) {
  const auto r = static_cast<Eigen::Index>(responses.size());
  of_run_ = Eigen::MatrixXd::Identity(r, r);
  std::vector<Eigen::VectorXd> residuals;
  for (const GoalResponse& response : responses) {
    residuals.push_back(response.surface->run_residuals());
    runs_.push_back(runs_of(response));
    const auto known = static_cast<std::size_t>(residuals.back().size());
    if (known > 0 && runs_.back().size() != known) {
      throw std::invalid_argument(fmt::format("response '{}': {} run numbers for {} runs",
                                              response.name, runs_.back().size(), known));
    }
  }
  for (std::size_t j = 0; j < responses.size(); ++j) {
    for (std::size_t k = 0; k < j; ++k) {
      if (residuals[j].size() == 0 || residuals[k].size() == 0) continue;
      const auto common = common_runs(runs_[j], runs_[k]);
      if (static_cast<int>(common.size()) < kMinCommon) continue;
      double both = 0, of_j = 0, of_k = 0;
      for (const auto& [a, b] : common) {
        both += residuals[j][a] * residuals[k][b];
        of_j += residuals[j][a] * residuals[j][a];
        of_k += residuals[k][b] * residuals[k][b];
      }
      if (of_j > 0 && of_k > 0) of_run_(j, k) = of_run_(k, j) = both / std::sqrt(of_j * of_k);
    }
  }
  of_run_ = possible_correlation(of_run_);
}

Eigen::MatrixXd JointErrors::of_next_run(const Eigen::VectorXd& coded) const {
  Eigen::MatrixXd correlation = of_run_;
  std::vector<Prediction> predictions;
  std::vector<Eigen::VectorXd> errors;
  for (const GoalResponse& response : responses_) {
    predictions.push_back(response.surface->predict(coded));
    errors.push_back(response.surface->mean_errors(coded.transpose()).of_runs.row(0));
  }
  for (std::size_t j = 0; j < responses_.size(); ++j) {
    for (std::size_t k = 0; k < j; ++k) {
      const Prediction &a = predictions[j], &b = predictions[k];
      double covariance = a.sigma * b.sigma;
      for (const auto& [of_a, of_b] : common_runs(runs_[j], runs_[k])) {
        covariance += errors[j][of_a] * errors[k][of_b];
      }
      const double errors_of_both =
          std::hypot(a.standard_error, a.sigma) * std::hypot(b.standard_error, b.sigma);
      correlation(j, k) *= errors_of_both > 0 ? covariance / errors_of_both : 0;
      correlation(k, j) = correlation(j, k);
    }
  }
  return possible_correlation(correlation);
}

Prediction prediction_at(const GoalResponse& response, const Eigen::VectorXd& coded,
                         SettingsAre are) {
  const bool by_posterior = are == SettingsAre::kChosen && response.posterior;
  return by_posterior ? response.posterior->predict(coded) : response.surface->predict(coded);
}

std::optional<double> JointErrors::all_limits_met(const Eigen::VectorXd& coded,
                                                  SettingsAre are) const {
  const auto r = static_cast<Eigen::Index>(responses_.size());
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  Eigen::VectorXd low = Eigen::VectorXd::Constant(r, -kInfinity);
  Eigen::VectorXd high = Eigen::VectorXd::Constant(r, kInfinity);
  bool known = false;
  for (Eigen::Index j = 0; j < r; ++j) {
    const GoalResponse& response = responses_[static_cast<std::size_t>(j)];
    if (!response.goal || !response.goal->is_limit()) continue;
    const Prediction prediction = prediction_at(response, coded, are);
    const auto ends = prediction.standardised(response.goal->met_low(), response.goal->met_high());
    if (!ends) continue;
    const double df = prediction.next_run_df.value_or(prediction.df);
    low[j] = as_normal(ends->low, df);
    high[j] = as_normal(ends->high, df);
    known = true;
  }
  if (!known) return std::nullopt;
  return normal_box_probability(of_next_run(coded), low, high);
}

}  // namespace doetune::surfaces
