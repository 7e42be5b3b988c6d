// M-estimation: regression that is robust against outliers.
#pragma once

#include <Eigen/Core>

#include "surfaces/fit.h"

namespace doetune::surfaces {

/// Weights of the runs and error scales of a robust fit.
struct RobustErrors {
  Eigen::VectorXd counts;  ///< n, psi(u) / u in [0, 1]: the fraction of its weight that a run keeps
  double scale = 0;        ///< median |r sqrt(w)| / 0.6745
  /// Standard errors are this times the roots of the diagonal of (X'WX)^-1.
  double coefficient_scale = 0;
};

/// b minimises sum rho(r_i sqrt(w_i) / s), with s from the residuals at b itself: rho is
/// ceres::HuberLoss (k = 1.345) or, starting from Huber's b, ceres::TukeyLoss (c = 4.685), which
/// have 95 % of the efficiency of least squares at normal errors; b and s alternate until s
/// converges. Standard errors by Huber's formula with his correction. Source: Huber (1981), Robust
/// Statistics, 7.6 and 7.10; Venables & Ripley (2002), Modern Applied Statistics with S, 6.5.
///
/// columns  n x p of full rank, rows times the roots of their weights; likewise z
/// Throws FitError if more than half of the residuals vanish or the iteration does not converge.
RobustErrors robust_errors(const Eigen::MatrixXd& columns, const Eigen::VectorXd& z, Loss loss);

}  // namespace doetune::surfaces
