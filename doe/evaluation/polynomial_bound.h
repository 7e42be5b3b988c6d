// What the coefficients of a polynomial say of its values over the box [-1, 1]^k.
#pragma once

#include <Eigen/Core>

#include "doe/evaluation/polynomial.h"

namespace doetune::doe {

/// Bounds over [-1, 1]^k. Slope i lies within slope[i] +- slope_radius[i], second derivative i
/// within curvature[i] +- curvature_radius[i].
struct PolynomialBounds {
  double upper = 0;
  Eigen::VectorXd slope, slope_radius;
  Eigen::VectorXd curvature, curvature_radius;
  Eigen::VectorXd weight;  ///< of each variable in what keeps `upper` from the maximum
};

PolynomialBounds polynomial_bounds(const Monomials& monomials, const Eigen::VectorXd& coefficients);

/// An upper bound over [-1, 1]^k of a polynomial that can be shown to be concave there, from the
/// tangent plane near its maximum; infinity where it cannot be shown. `at` is set to that point.
double concave_upper_bound(const Monomials& monomials, const Eigen::VectorXd& coefficients,
                           Eigen::VectorXd& at);

}  // namespace doetune::doe
