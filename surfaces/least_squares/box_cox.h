// Box-Cox analysis: the power transform that best normalises the errors of a fit.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "doe/model.h"
#include "surfaces/fit.h"

namespace doetune::surfaces {

/// The profile log-likelihood up to a constant, l(lambda) = -(n/2) ln RSS of the fit to
/// ((y/g)^lambda - 1) / lambda with g the geometric mean.
/// Source: Box & Cox (1964), JRSS B 26, 211.
struct BoxCox {
  std::vector<double> lambdas, log_likelihood;  ///< -2 to 2 in steps of 0.1
  double lambda = 1;                            ///< maximiser of l within -5 to 5
  double highest = 0;                           ///< maximum of l
  Interval interval;                            ///< l within chi^2(1) / 2 of the maximum
  /// none if the interval contains 1; otherwise the one of log, sqrt, inverse and power(-0.5) in
  /// the interval that is nearest to lambda; otherwise the power lambda to two decimals.
  Transform suggestion;
};

/// y > 0; the transform, loss and whole plots of the options are ignored. Throws FitError like
/// fit_least_squares, and if the model fits y exactly or y does not vary.
BoxCox box_cox(const doe::Model& model, const Eigen::MatrixXd& coded, const Eigen::VectorXd& y,
               const FitOptions& options = {}, double level = 0.95);

}  // namespace doetune::surfaces
