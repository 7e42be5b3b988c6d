// Combinations that several design builders start from.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "doe/design.h"

namespace doetune::doe {

/// Every choice of one value a factor, the first factor changing fastest.
std::vector<Eigen::VectorXd> combinations(const std::vector<std::vector<double>>& values);

/// Every combination of categorical levels, as full coded points whose numeric entries are 0.
std::vector<Eigen::VectorXd> categorical_combinations(const std::vector<Factor>& factors);

/// One of these combinations, counted from 0; after the last the first comes again. The others are
/// not made: there may be more than fit into memory.
Eigen::VectorXd categorical_combination(const std::vector<Factor>& factors, std::size_t number);

/// Indices of the factors that are numbers.
std::vector<int> numeric_factors(const std::vector<Factor>& factors);

/// So many runs at the centre of the numeric factors, for every combination of
/// categorical levels.
void append_center_runs(const DesignRequest& request, int runs, Design& design);

}  // namespace doetune::doe
