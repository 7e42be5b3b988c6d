// The largest prediction variance of a design over a region, with a proven upper bound.
#pragma once

#include <Eigen/Core>

#include "doe/model.h"
#include "doe/region.h"

namespace doetune::doe {

/// The maximum of d(x) = f(x)' (X'X)^-1 f(x) over a region: the variance of a predicted mean in
/// units of the error variance. The G-efficiency is 100 p / (n max d).
struct MaxVariance {
  double value = 0;        ///< the largest found, at `at`
  double upper_bound = 0;  ///< proven upper bound, rounding included
  Eigen::VectorXd at;      ///< coded; empty if no allowed point was found
  bool proven = false;     ///< upper_bound <= value (1 + relative_gap)
};

/// Continuous factors take any value in [-1, 1] coded, all others their settings. Over a box of up
/// to about ten factors the maximum is proven within seconds: d is a polynomial in the numeric
/// factors for every combination of categorical levels, and polynomial_maximum finds the largest of
/// all. If the time limit is reached first, [value, upper_bound] brackets the maximum.
///
/// With constraints all combinations are tried if there are at most 65,536. Otherwise `upper_bound`
/// is the bound over the box and `value` the largest at the allowed points searched, so the maximum
/// is proven only if the maximiser over the box is allowed.
///
/// With over 262,144 combinations of categorical levels, or polynomials with over 4,000,000
/// coefficients or 4e9 products to sum, `value` is the largest found by steps in one or two factors
/// from the best of a sample, and the only bound is sum |(X'X)^-1|, since no column exceeds 1.
/// Searches of points take at least a second, otherwise the time limit at most.
///
/// `inverse_information` is (X'X)^-1, p x p, finite. Results that are proven are the same on every
/// machine.
MaxVariance max_variance(const Model& model, const Region& region,
                         const Eigen::MatrixXd& inverse_information, double relative_gap = 1e-6,
                         double time_limit_s = 10);

}  // namespace doetune::doe
