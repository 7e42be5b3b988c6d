#include "surfaces/models/kriging.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "surfaces/models/correlation.h"

namespace doetune::surfaces {
namespace {

/// As a fraction of the largest variance; rounding of a singular covariance is less.
constexpr double kNegligibleVariance = 1e-11;

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

/// h / (g + h), below 1.
double nugget_fraction(const GroupedRuns& runs, const Eigen::VectorXd& log_parameters) {
  const auto k = static_cast<Eigen::Index>(runs.factors.size());
  constexpr double kFarthest = 20;
  if (log_parameters.size() == k + 1) return 0;
  return 1 / (1 + std::exp(-std::min(log_parameters[k], kFarthest)));
}

Correlation correlation_of(const GroupedRuns& runs, const Eigen::VectorXd& log_parameters,
                           const Kriging& kriging) {
  const auto k = static_cast<Eigen::Index>(runs.factors.size());
  return {runs.factors, log_parameters.head(k), kriging.nugget};
}

}  // namespace

std::optional<Kriging> solve_kriging(const GroupedRuns& runs,
                                     const Eigen::VectorXd& log_parameters) {
  Kriging kriging;
  const double both = kMinNoiseRatio + std::exp(log_parameters.tail(1)[0]);
  kriging.nugget = both * nugget_fraction(runs, log_parameters);
  kriging.noise_ratio = both - kriging.nugget;
  kriging.correlations = correlation_of(runs, log_parameters, kriging).matrix(runs.points);
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
  Eigen::MatrixXd raised = covariance;
  raised.diagonal().array() += kNegligibleVariance * covariance.diagonal().maxCoeff();
  const Eigen::LLT<Eigen::MatrixXd> llt(raised);
  if (llt.info() == Eigen::Success) return llt.matrixL();
  // Rounding has left less than that. LDLT takes any covariance, but Eigen's does not work by
  // blocks.
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
  const auto k = static_cast<Eigen::Index>(runs.factors.size());
  const Eigen::MatrixXd traced =
      projection(kriging) - kriging.weights * kriging.weights.transpose() / kriging.variance;
  Eigen::VectorXd gradient(log_parameters.size());
  gradient.head(k) = -0.5 * correlation_of(runs, log_parameters, kriging)
                                .gradient(runs.points, kriging.correlations, traced);
  const double g = kriging.noise_ratio;
  const double by_points = (traced.diagonal().array() / runs.runs_at.cast<double>().array()).sum();
  const double by_scatter =
      (runs.n - runs.points_count()) / g - runs.pure_error / (g * g * kriging.variance);
  const double of_noise = -0.5 * (by_points + by_scatter), of_nugget = -0.5 * traced.trace();
  const double fraction = nugget_fraction(runs, log_parameters);
  if (gradient.size() > k + 1)
    gradient[k] = kriging.nugget * (1 - fraction) * (of_nugget - of_noise);
  gradient.tail(1)[0] =
      std::exp(log_parameters.tail(1)[0]) * ((1 - fraction) * of_noise + fraction * of_nugget);
  return gradient;
}

}  // namespace doetune::surfaces
