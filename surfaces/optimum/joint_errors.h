// Joint distribution of the errors of several responses, at one or many points.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <vector>

#include "surfaces/optimum.h"

namespace doetune::surfaces {

/// Of a response at a coded point: by the surface or, if the settings were chosen and the response
/// has a posterior, by that.
Prediction prediction_at(const GoalResponse& response, const Eigen::VectorXd& coded,
                         SettingsAre are);

/// The errors of responses that were measured in the same runs are correlated: what made a run slow
/// made its throughput low. Their correlation is that of the surfaces' residuals over common runs,
///   rho_jk = sum r_j r_k / sqrt(sum r_j^2 sum r_k^2)
/// (seemingly unrelated regressions: Zellner 1962, JASA 57, 348), taken as 0 with fewer than three
/// common runs; with few degrees of freedom it is itself uncertain. Errors of predicted means are
/// correlated to the extent that they come from the same runs, errors of the same next run fully.
class JointErrors {
 public:
  /// Throws std::invalid_argument if a response does not have one run number per run.
  explicit JointErrors(const std::vector<GoalResponse>& responses);

  /// r x r: correlation of the errors of one run.
  const Eigen::MatrixXd& of_run() const { return of_run_; }

  /// r x r: correlation of the prediction errors of the next run at a coded point, mean and run
  /// error together.
  Eigen::MatrixXd of_next_run(const Eigen::VectorXd& coded) const;

  /// The probability that the next run at a coded point meets every limit. Each error has the
  /// Student t distribution of its Prediction; their dependence is that of normal variables with
  /// correlation of_next_run (a Gaussian copula: with correlation 0 the probability is a product).
  /// Source: Cario & Nelson (1997), Modeling and Generating Random Vectors. Empty without limits or
  /// without error estimates.
  std::optional<double> all_limits_met(const Eigen::VectorXd& coded,
                                       SettingsAre are = SettingsAre::kNamed) const;

 private:
  friend class MeanDraws;

  std::vector<GoalResponse> responses_;
  std::vector<std::vector<int>> runs_;  ///< per response, by column of its mean errors
  Eigen::MatrixXd of_run_;
};

/// Draws from the distribution of the true mean responses at some points, given the runs: predicted
/// means plus errors correlated over points (mean_errors) and responses (JointErrors), scaled per
/// response by sqrt(df / chi-squared), so that a mean has the Student t of its Prediction. The
/// scales of two responses are correlated like the squares of their errors, by rho^2. For fits to
/// the same large set of runs, only as many independent errors are drawn as the means depend on:
/// the distribution of the draws is the same.
class MeanDraws {
 public:
  MeanDraws(const JointErrors& joint, const Eigen::MatrixXd& coded);

  /// One m x draws matrix per response on the scale of the fit; the same for the same stream.
  std::vector<Eigen::MatrixXd> draw(int draws, std::uint64_t stream) const;

  /// The same in the responses' own units.
  std::vector<Eigen::MatrixXd> draw_responses(int draws, std::uint64_t stream) const {
    return in_own_units(draw(draws, stream));
  }
  std::vector<Eigen::MatrixXd> in_own_units(std::vector<Eigen::MatrixXd> drawn) const;

  const Transform& transform(std::size_t response) const { return responses_[response].transform; }

 private:
  struct Response {
    Eigen::VectorXd means;  ///< m
    MeanErrors errors;
    std::vector<int> rows;  ///< index among all runs of each column of errors.of_runs
    double df = 0;
    Transform transform = Transform::kNone;
  };

  std::vector<Response> responses_;
  Eigen::Index run_count_ = 0;
  Eigen::MatrixXd run_root_;    ///< root of the correlation of errors
  Eigen::MatrixXd scale_root_;  ///< root of the correlation of their scales
};

}  // namespace doetune::surfaces
