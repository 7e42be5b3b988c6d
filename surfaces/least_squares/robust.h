// M-estimation: fits that few wild runs cannot pull away.
#pragma once

#include <Eigen/Core>

#include "surfaces/fit.h"

namespace doetune::surfaces {

/// What a robust fit says about the errors and the runs.
struct RobustErrors {
  Eigen::VectorXd counts;  ///< n, psi(u) / u in [0, 1]: how much of its weight a run keeps
  double scale = 0;        ///< median |r sqrt(w)| / 0.6745
  /// Of which times the roots of the diagonal of (X'WX)^-1 are the standard errors.
  double coefficient_scale = 0;
};

/// b minimises sum rho(r_i sqrt(w_i) / s), with s from the residuals at b itself: rho by
/// ceres::HuberLoss (k = 1.345) or, from Huber's b, ceres::TukeyLoss (c = 4.685), which have 95 %
/// of the efficiency of least squares at normal errors; b and s in turn until s stays. Errors by
/// Huber's formula with his correction. Source: Huber (1981), Robust Statistics, 7.6 and 7.10;
/// Venables & Ripley (2002), Modern Applied Statistics with S, 6.5.
///
/// columns  n x p of full rank, rows times the roots of their weights; z alike
/// Throws FitError where more than half of the residuals vanish or nothing converges.
RobustErrors robust_errors(const Eigen::MatrixXd& columns, const Eigen::VectorXd& z, Loss loss);

}  // namespace doetune::surfaces
