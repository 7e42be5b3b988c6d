// Bounds of a polynomial over the box [-1, 1]^k from its coefficients.
#pragma once

#include <Eigen/Core>

#include "doe/evaluation/polynomial.h"

namespace doetune::doe {

/// Bounds over [-1, 1]^k: slope i is in slope[i] +- slope_radius[i], second derivative i in
/// curvature[i] +- curvature_radius[i].
struct PolynomialBounds {
  double upper = 0;
  Eigen::VectorXd slope, slope_radius;
  Eigen::VectorXd curvature, curvature_radius;
  Eigen::VectorXd weight;  ///< contribution of each variable to the gap between `upper` and the
                           ///< maximum
};

PolynomialBounds polynomial_bounds(const Monomials& monomials, const Eigen::VectorXd& coefficients);

/// An upper bound over [-1, 1]^k of a polynomial that can be shown to be concave there, from the
/// tangent plane near its maximum; infinity if concavity cannot be shown. Sets `at` to that point.
double concave_upper_bound(const Monomials& monomials, const Eigen::VectorXd& coefficients,
                           Eigen::VectorXd& at);

}  // namespace doetune::doe
