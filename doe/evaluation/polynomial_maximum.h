// The proven largest value of polynomials over a box.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "doe/evaluation/polynomial.h"

namespace doetune::doe {

/// Polynomials a_0(x), a_1(x), ... over one set of monomials, of which the largest value anywhere
/// is sought. A variable is any number in [-1, 1], or where it has settings (ascending) one of
/// those.
struct PolynomialProblem {
  const Monomials& monomials;
  std::vector<Eigen::VectorXd> coefficients;  ///< of each polynomial
  std::vector<std::vector<double>> settings;  ///< per variable
  double rounding = 0;  ///< what coefficients may err by, as the sum of all of a polynomial's
};

struct PolynomialMaximum {
  double value = 0;        ///< found, at `at` of polynomial `which`
  double upper_bound = 0;  ///< nothing is larger
  int which = 0;
  Eigen::VectorXd at;
  bool proven = false;  ///< upper_bound <= value + relative_gap |value|
};

/// Branch and bound until the gap between the largest value found and the upper bound is closed, or
/// time is up. A box of variables is bounded from the coefficients of the polynomial about its
/// centre; it is settled where
///   - its bound is no better than what was found,
///   - a slope or curvature has one sign, so that the maximum is at an end of the variable's range,
///   - the polynomial is concave over it: its maximum then lies under every tangent plane,
/// and halved otherwise; half of a variable's range does where all its powers are even. Bounds
/// include what floating-point rounding can do.
///
/// Source of the method: Horst & Tuy (1996), Global Optimization, ch. 4; of the concavity test:
/// Adjiman et al. (1998), Computers & Chemical Engineering 22, 1137-1158.
PolynomialMaximum polynomial_maximum(const PolynomialProblem& problem, double relative_gap,
                                     double time_limit_s);

}  // namespace doetune::doe
