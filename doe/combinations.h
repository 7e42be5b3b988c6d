// Combinations of levels from which several designs are built.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "doe/design.h"

namespace doetune::doe {

/// Every choice of one value per factor, the first factor changing fastest.
std::vector<Eigen::VectorXd> combinations(const std::vector<std::vector<double>>& values);

/// Every combination of categorical levels, as full coded points whose numeric entries are 0.
std::vector<Eigen::VectorXd> categorical_combinations(const std::vector<Factor>& factors);

/// Combination `number` of these, from 0, modulo their count. The others are not generated: there
/// may be more than fit into memory.
Eigen::VectorXd categorical_combination(const std::vector<Factor>& factors, std::size_t number);

/// Indices of the numeric factors.
std::vector<int> numeric_factors(const std::vector<Factor>& factors);

/// Adds `runs` runs at the centre of the numeric factors for every combination of categorical
/// levels.
void append_center_runs(const DesignRequest& request, int runs, Design& design);

}  // namespace doetune::doe
