// Proven maximum of polynomials over a box.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "doe/evaluation/polynomial.h"

namespace doetune::doe {

/// Polynomials a_0(x), a_1(x), ... over one set of monomials; the maximum over all of them is
/// sought. A variable takes any value in [-1, 1], or one of its settings (ascending) if it has any.
struct PolynomialProblem {
  const Monomials& monomials;
  std::vector<Eigen::VectorXd> coefficients;  ///< of each polynomial
  std::vector<std::vector<double>> settings;  ///< per variable
  double rounding = 0;  ///< error bound on the coefficients, summed over a polynomial
};

struct PolynomialMaximum {
  double value = 0;        ///< the largest found, at `at` of polynomial `which`
  double upper_bound = 0;  ///< proven for all polynomials
  int which = 0;
  Eigen::VectorXd at;
  bool proven = false;  ///< upper_bound <= value + relative_gap |value|
};

/// Branch and bound until the gap between the largest value found and the upper bound is closed, or
/// the time limit is reached. A box of variables is bounded from the coefficients of the polynomial
/// about its centre. It is resolved if
///   - its bound is no better than the best value found,
///   - a slope or curvature has one sign, so that the maximum is at an end of the variable's range,
///   - the polynomial is concave over it: its maximum then lies below every tangent plane,
/// and halved otherwise. Half of a variable's range suffices if all its powers are even. Bounds
/// include floating-point rounding errors.
///
/// Sources: method, Horst & Tuy (1996), Global Optimization, ch. 4; concavity test, Adjiman et al.
/// (1998), Computers & Chemical Engineering 22, 1137-1158.
PolynomialMaximum polynomial_maximum(const PolynomialProblem& problem, double relative_gap,
                                     double time_limit_s);

}  // namespace doetune::doe
