// Probability that correlated normal variables all lie in given intervals.
#pragma once

#include <Eigen/Core>

namespace doetune::surfaces {

/// P(low <= z <= high) for z normal with mean 0 and the given correlation matrix (r x r, possibly
/// singular); ends may be infinite. Each variable in turn is drawn inside its interval given the
/// earlier ones, and the product of the interval probabilities is averaged over a fixed lattice:
/// deterministic, with an error of at most 1e-3 for up to ten variables (mostly below 1e-4) and
/// none for independent ones. Source: Genz (1992), Journal of Computational and Graphical
/// Statistics 1, 141.
double normal_box_probability(const Eigen::MatrixXd& correlation, const Eigen::VectorXd& low,
                              const Eigen::VectorXd& high);

/// Repairs a correlation matrix: negative eigenvalues set to 0, diagonal rescaled to 1.
Eigen::MatrixXd possible_correlation(const Eigen::MatrixXd& correlation);

}  // namespace doetune::surfaces
