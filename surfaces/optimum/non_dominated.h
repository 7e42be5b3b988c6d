// Non-dominated points (Pareto filter).
#pragma once

#include <Eigen/Core>
#include <vector>

namespace doetune::surfaces {

/// Scale factors that give each row of `costs` (one row per goal, one column per point) the range
/// 1; 0 if all costs in the row are equal.
Eigen::VectorXd shares_of_ranges(const Eigen::MatrixXd& costs);

/// The columns that no other dominates (no larger in any row and smaller in one); of equal columns
/// the first. Ordered by the sum of scaled costs: in this order no column dominates an earlier one.
std::vector<Eigen::Index> non_dominated(const Eigen::MatrixXd& costs);

}  // namespace doetune::surfaces
