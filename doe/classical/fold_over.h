// Fold-over of a design: additional runs that de-alias confounded effects.
#pragma once

#include <Eigen/Core>
#include <optional>
#include <vector>

#include "doe/factor.h"

namespace doetune::doe {

/// The runs to add to n x k coded runs: the same runs with all factors reversed, or only `factor`.
/// A numeric setting changes sign, a categorical one swaps its two levels. Reversing all factors
/// clears main effects of two-factor interactions (resolution III becomes IV); reversing one factor
/// clears its main effect and its two-factor interactions. Throws DesignError for a categorical
/// factor with more than two levels that would be reversed.
/// Source: Box & Wilson (1951); Montgomery & Runger (1996), foldovers of 2^(k-p) designs.
Eigen::MatrixXd fold_over(const Eigen::MatrixXd& coded, const std::vector<Factor>& factors,
                          std::optional<int> factor = std::nullopt);

}  // namespace doetune::doe
