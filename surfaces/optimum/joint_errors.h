// How the errors of several responses hang together, at one point or many.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <vector>

#include "surfaces/optimum.h"

namespace doetune::surfaces {

/// The errors of responses that were measured in the same runs are correlated: what made a run slow
/// made its throughput low. Their correlation is that of the surfaces' residuals over common runs,
///   rho_jk = sum r_j r_k / sqrt(sum r_j^2 sum r_k^2)
/// (seemingly unrelated regressions: Zellner 1962, JASA 57, 348), taken for 0 with fewer than three
/// common runs; with few degrees of freedom it is itself uncertain. Errors of predicted means are
/// correlated by it as far as they stem from the same runs, errors of one next run entirely.
class JointErrors {
 public:
  /// Throws std::invalid_argument where a response has other than one run number a run.
  explicit JointErrors(const std::vector<GoalResponse>& responses);

  /// r x r: of the errors of one run.
  const Eigen::MatrixXd& of_run() const { return of_run_; }

  /// r x r: of the errors of predictions of the next run at a coded point, mean and run together.
  Eigen::MatrixXd of_next_run(const Eigen::VectorXd& coded) const;

  /// The probability that the next run at a coded point meets every limit: each error is Student's
  /// t exactly as its Prediction says, and they hang together as normal variables of correlation
  /// of_next_run do (a Gaussian copula: with correlation 0 it is the product of probabilities).
  /// Source: Cario & Nelson (1997), Modeling and Generating Random Vectors. Empty without limits or
  /// without error estimates.
  std::optional<double> all_limits_met(const Eigen::VectorXd& coded) const;

 private:
  friend class MeanDraws;

  std::vector<GoalResponse> responses_;
  std::vector<std::vector<int>> runs_;  ///< of each response, by column of its mean errors
  Eigen::MatrixXd of_run_;
};

/// Draws of what the true mean responses at some points may be, given the runs: predicted means
/// plus errors that hang together over points (mean_errors) and responses (JointErrors), each
/// response's scaled by sqrt(df / chi-squared), so that a mean has the Student t of its Prediction.
/// The scales of two responses hang together as squares of their errors do, by rho^2. Of fits to
/// the same many runs the errors of as many combinations of runs are drawn as the means depend on:
/// the draws have the same distribution.
class MeanDraws {
 public:
  MeanDraws(const JointErrors& joint, const Eigen::MatrixXd& coded);

  /// Of each response an m x draws matrix on the scale of the fit; the same for the same stream.
  std::vector<Eigen::MatrixXd> draw(int draws, std::uint64_t stream) const;

  /// The same in the response's own unit.
  std::vector<Eigen::MatrixXd> draw_responses(int draws, std::uint64_t stream) const;

 private:
  struct Response {
    Eigen::VectorXd means;  ///< m
    MeanErrors errors;
    std::vector<int> rows;  ///< among all runs, of the columns of errors.of_runs
    double df = 0;
    Transform transform = Transform::kNone;
  };

  std::vector<Response> responses_;
  Eigen::Index run_count_ = 0;
  Eigen::MatrixXd run_root_;    ///< root of the correlation of errors
  Eigen::MatrixXd scale_root_;  ///< root of the correlation of their scales
};

}  // namespace doetune::surfaces
