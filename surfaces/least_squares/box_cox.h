// The power transform that makes the errors of a fit most nearly normal and even.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "doe/model.h"
#include "surfaces/fit.h"

namespace doetune::surfaces {

/// l(lambda) = -(n/2) ln RSS of the fit to (y / g)^lambda, in the form ((y/g)^lambda - 1) / lambda
/// with g the geometric mean: the log-likelihood but for a constant, all else at its best.
/// Source: Box & Cox (1964), JRSS B 26, 211.
struct BoxCox {
  std::vector<double> lambdas, log_likelihood;  ///< -2 to 2 in steps of 0.1
  double lambda = 1;                            ///< where l is highest, within -5 to 5
  double highest = 0;                           ///< l there
  Interval interval;                            ///< l within chi^2(1) / 2 of the highest
  /// none where the interval has 1; else of log, sqrt, inverse and power(-0.5) the one nearest to
  /// lambda that the interval has; else the power of lambda to two decimals.
  Transform suggestion;
};

/// y > 0; the options' transform, loss and whole plots do not count.
/// Throws FitError like fit_least_squares, and where the model fits y exactly or y does not vary.
BoxCox box_cox(const doe::Model& model, const Eigen::MatrixXd& coded, const Eigen::VectorXd& y,
               const FitOptions& options = {}, double level = 0.95);

}  // namespace doetune::surfaces
