#include "surfaces/models/kriging.h"

#include <cmath>
#include <numbers>

#include "surfaces/models/correlation.h"

namespace doetune::surfaces {
namespace {

double log_determinant(const Eigen::LLT<Eigen::MatrixXd>& root) {
  return 2 * root.matrixLLT().diagonal().array().log().sum();
}

double restricted_log_likelihood(const GroupedRuns& runs, const Kriging& kriging) {
  const double df = runs.df();
  const double log_determinants = log_determinant(kriging.root) +
                                  log_determinant(kriging.mean_root) +
                                  runs.runs_at.cast<double>().array().log().sum() +
                                  (runs.n - runs.points_count()) * std::log(kriging.noise_ratio);
  return -0.5 * (df * (std::log(2 * std::numbers::pi * kriging.variance) + 1) + log_determinants);
}

}  // namespace

std::optional<Kriging> solve_kriging(const GroupedRuns& runs,
                                     const Eigen::VectorXd& log_parameters) {
  const Eigen::Index k = log_parameters.size() - 1;
  Kriging kriging;
  kriging.correlations =
      Correlation(runs.factors, log_parameters.head(k)).matrix(runs.points, runs.points);
  kriging.noise_ratio = kMinNoiseRatio + std::exp(log_parameters[k]);
  Eigen::MatrixXd covariance = kriging.correlations;
  covariance.diagonal().array() += kriging.noise_ratio / runs.runs_at.cast<double>().array();
  kriging.root.compute(covariance);
  if (kriging.root.info() != Eigen::Success) return std::nullopt;

  kriging.whitened_mean = kriging.root.matrixL().solve(runs.mean_terms);
  const Eigen::VectorXd whitened = kriging.root.matrixL().solve(runs.responses);
  kriging.mean_root.compute(kriging.whitened_mean.transpose() * kriging.whitened_mean);
  if (kriging.mean_root.info() != Eigen::Success) return std::nullopt;
  kriging.beta = kriging.mean_root.solve(kriging.whitened_mean.transpose() * whitened);
  const Eigen::VectorXd residual = whitened - kriging.whitened_mean * kriging.beta;
  kriging.weights = kriging.root.matrixU().solve(residual);
  kriging.variance = (residual.squaredNorm() + runs.pure_error / kriging.noise_ratio) / runs.df();
  kriging.log_likelihood = restricted_log_likelihood(runs, kriging);
  if (!std::isfinite(kriging.log_likelihood)) return std::nullopt;
  return kriging;
}

Eigen::MatrixXd covariance_root(const Eigen::MatrixXd& covariance) {
  const Eigen::LDLT<Eigen::MatrixXd> ldlt(covariance);
  Eigen::MatrixXd lower = ldlt.matrixL();
  lower = lower * ldlt.vectorD().cwiseMax(0).cwiseSqrt().asDiagonal();
  return ldlt.transpositionsP().transpose() * lower;
}

Eigen::MatrixXd projection(const Kriging& kriging) {
  const Eigen::Index m = kriging.weights.size();
  const Eigen::MatrixXd solved_mean = kriging.root.matrixU().solve(kriging.whitened_mean);
  const Eigen::MatrixXd half =
      kriging.mean_root.matrixL().solve(solved_mean.transpose()).transpose();
  return kriging.root.solve(Eigen::MatrixXd::Identity(m, m)) - half * half.transpose();
}

Eigen::VectorXd likelihood_gradient(const GroupedRuns& runs, const Kriging& kriging,
                                    const Eigen::VectorXd& log_parameters) {
  const Eigen::Index k = log_parameters.size() - 1;
  const Eigen::MatrixXd traced =
      projection(kriging) - kriging.weights * kriging.weights.transpose() / kriging.variance;
  Eigen::VectorXd gradient(k + 1);
  gradient.head(k) = -0.5 * Correlation(runs.factors, log_parameters.head(k))
                                .gradient(runs.points, kriging.correlations, traced);
  const double g = kriging.noise_ratio;
  const double by_points = (traced.diagonal().array() / runs.runs_at.cast<double>().array()).sum();
  const double by_scatter =
      (runs.n - runs.points_count()) / g - runs.pure_error / (g * g * kriging.variance);
  gradient[k] = -0.5 * std::exp(log_parameters[k]) * (by_points + by_scatter);
  return gradient;
}

}  // namespace doetune::surfaces
