// Statistical power to detect an effect of a given size.
#pragma once

#include <Eigen/Core>
#include <optional>
#include <string>
#include <vector>

#include "doe/model.h"

namespace doetune::doe {

struct TermPower {
  std::string term;
  std::optional<double> power;  ///< empty if there are no degrees of freedom for error
};

/// The power of the F test of every term except the intercept: the probability, at significance
/// level alpha, to detect coefficients of `effect` error standard deviations in coded units (for a
/// term with several contrasts: effect, -effect, effect ...):
///
///   P(F' > F_{1-alpha; q, n-p}),  F' noncentral F with q, n - p degrees of freedom and
///   lambda = b' [V_tt]^-1 b,  V = (X'X)^-1, q columns in the term, b in error standard deviations.
///
/// Source: Atkinson, Donev & Tobias (2007), Optimum Experimental Designs, ch. 5; the noncentral F
/// distribution is Boost.Math's.
std::vector<TermPower> term_powers(const Model& model, int runs, const Eigen::MatrixXd& inverse,
                                   double effect, double alpha);

}  // namespace doetune::doe
