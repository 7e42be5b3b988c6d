// Folding a design over: more runs that separate what the first confounded.
#pragma once

#include <Eigen/Core>
#include <optional>
#include <vector>

#include "doe/factor.h"

namespace doetune::doe {

/// The runs to add to n x k coded runs: the same with every factor reversed, or one factor only.
/// A numeric setting changes sign, a categorical one swaps the two levels. All reversed, main
/// effects become clear of two-factor interactions (resolution III becomes IV); one reversed, that
/// factor's main effect and its two-factor interactions do. Throws DesignError for a categorical
/// factor of more than two levels that would be reversed.
/// Source: Box & Wilson (1951); Montgomery & Runger (1996), foldovers of 2^(k-p) designs.
Eigen::MatrixXd fold_over(const Eigen::MatrixXd& coded, const std::vector<Factor>& factors,
                          std::optional<int> factor = std::nullopt);

}  // namespace doetune::doe
