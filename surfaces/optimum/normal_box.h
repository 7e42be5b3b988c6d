// The probability that correlated normal variables all lie in their intervals.
#pragma once

#include <Eigen/Core>

namespace doetune::surfaces {

/// P(low <= z <= high) for z normal with mean 0 and the given correlation matrix (r x r, possibly
/// singular); ends may be infinite. One variable after the other is drawn inside its interval given
/// those before, and the probabilities of the intervals are multiplied, averaged over a lattice of
/// fixed points: the same result every time, with an error of 1e-3 at most for up to ten variables
/// (mostly below 1e-4) and none for independent ones. Source: Genz (1992), Journal of Computational
/// and Graphical Statistics 1, 141.
double normal_box_probability(const Eigen::MatrixXd& correlation, const Eigen::VectorXd& low,
                              const Eigen::VectorXd& high);

/// The nearest correlation matrix that can be: negative eigenvalues made 0, the diagonal 1 again.
Eigen::MatrixXd possible_correlation(const Eigen::MatrixXd& correlation);

}  // namespace doetune::surfaces
