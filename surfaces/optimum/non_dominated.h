// Which of some points no other beats in every respect.
#pragma once

#include <Eigen/Core>
#include <vector>

namespace doetune::surfaces {

/// `costs` has one row a goal, one column a point. What each row is multiplied by for its range to
/// be 1; 0 where all its costs are equal.
Eigen::VectorXd shares_of_ranges(const Eigen::MatrixXd& costs);

/// The columns that no other dominates, being no greater in any row and less in one; of equal
/// columns the first. In the order of the sums of costs as shares of their ranges: there no column
/// dominates an earlier one.
std::vector<Eigen::Index> non_dominated(const Eigen::MatrixXd& costs);

}  // namespace doetune::surfaces
