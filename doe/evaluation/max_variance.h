// The largest prediction variance of a design over a region, with proof.
#pragma once

#include <Eigen/Core>

#include "doe/model.h"
#include "doe/region.h"

namespace doetune::doe {

/// The largest d(x) = f(x)' (X'X)^-1 f(x) over a region: the variance of a predicted mean in
/// units of the error variance, from which G-efficiency is 100 p / (n max d).
struct MaxVariance {
  double value = 0;        ///< the largest found, at `at`
  double upper_bound = 0;  ///< nowhere is it larger, rounding included
  Eigen::VectorXd at;      ///< coded; empty where no allowed point was found
  bool proven = false;     ///< upper_bound <= value (1 + relative_gap)
};

/// Continuous factors take any value in [-1, 1] coded, all others their settings. Over a box of up
/// to some ten factors the maximum is proven within seconds: d is a polynomial in the numeric
/// factors for every combination of categorical levels, and polynomial_maximum finds the largest of
/// them all. Where time is up first, [value, upper_bound] brackets it.
///
/// With constraints all combinations are tried where there are at most 65,536; otherwise
/// `upper_bound` is the one over the box and `value` the largest at allowed points that were
/// searched, so it is proven only where the maximum over the box is allowed. A design whose
/// polynomials have over 4,000,000 coefficients has the bound sum |(X'X)^-1| only, as no column
/// exceeds 1.
///
/// `inverse_information` is (X'X)^-1, p x p, finite. The same on any machine where it is proven.
MaxVariance max_variance(const Model& model, const Region& region,
                         const Eigen::MatrixXd& inverse_information, double relative_gap = 1e-6,
                         double time_limit_s = 10);

}  // namespace doetune::doe
