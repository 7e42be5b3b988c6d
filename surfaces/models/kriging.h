// Kriging algebra for given covariance parameters; internal to Gaussian processes.
#pragma once

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <optional>
#include <vector>

#include "doe/factor.h"

namespace doetune::surfaces {

/// Runs grouped by point. They enter the likelihood through the mean of the point and the scatter
/// about it (Binois, Gramacy & Ludkovski, 2018, eq. 4 to 7).
struct GroupedRuns {
  std::vector<doe::Factor> factors;
  int n = 0;
  std::vector<int> point_of_run;
  Eigen::MatrixXd points;      ///< m x k, coded, ordered by first run
  Eigen::VectorXi runs_at;     ///< m
  Eigen::MatrixXd mean_terms;  ///< F, m x q
  Eigen::VectorXd responses;   ///< m: means of the transformed responses
  double pure_error = 0;       ///< sum of squares about them

  int points_count() const { return static_cast<int>(points.rows()); }
  int df() const { return n - static_cast<int>(mean_terms.cols()); }
};

/// Best linear unbiased prediction with C = R + g diag(1 / runs_at).
struct Kriging {
  Eigen::MatrixXd correlations;           ///< R
  double noise_ratio = 0;                 ///< g
  double nugget = 0;                      ///< h of Correlation
  Eigen::LLT<Eigen::MatrixXd> root;       ///< L L' = C
  Eigen::MatrixXd whitened_mean;          ///< L^-1 F
  Eigen::LLT<Eigen::MatrixXd> mean_root;  ///< of F' C^-1 F
  Eigen::VectorXd beta;                   ///< generalised least squares
  Eigen::VectorXd weights;                ///< C^-1 (responses - F beta)
  double variance = 0;                    ///< process variance at the maximum of the likelihood
  double log_likelihood = 0;              ///< restricted
};

/// One parameter for each factor, those of Correlation; ln(h / g) with a nugget; ln(g + h -
/// 1e-9). Only runs at the same point tell g from h. The floor keeps C positive definite. Empty if
/// C or F' C^-1 F is not positive definite.
std::optional<Kriging> solve_kriging(const GroupedRuns& runs,
                                     const Eigen::VectorXd& log_parameters);

/// P = C^-1 - C^-1 F (F' C^-1 F)^-1 F' C^-1, so that weights = P responses.
Eigen::MatrixXd projection(const Kriging& kriging);

/// Gradient of the logarithm of the restricted likelihood with respect to the parameters. Quadratic
/// in the number of points once P is known: all derivatives are traces with one matrix.
Eigen::VectorXd likelihood_gradient(const GroupedRuns& runs, const Kriging& kriging,
                                    const Eigen::VectorXd& log_parameters);

/// A matrix A with A A' = covariance, to 1e-11 of its largest variance; it may be singular.
Eigen::MatrixXd covariance_root(const Eigen::MatrixXd& covariance);

inline constexpr double kMinNoiseRatio = 1e-9;

}  // namespace doetune::surfaces
