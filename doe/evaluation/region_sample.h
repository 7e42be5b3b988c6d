// Points that stand for a region.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "doe/factor.h"
#include "doe/region.h"

namespace doetune::doe {

/// The coded values that a discrete, integer or categorical factor can take, ascending; of a
/// continuous factor none.
std::vector<double> coded_settings(const Factor& factor);

/// Whether no factor is continuous and all settings have at most `most` combinations.
bool few_combinations(const std::vector<Factor>& factors, int most);

/// Allowed coded points (m x k), the same at every call. With few_combinations(factors, points)
/// every one of them once; otherwise the allowed ones among the
/// first of a quasi-random sequence, until `points` are found (fewer where under one point in 64 is
/// allowed). Each continuous factor is uniform on [-1, 1], each other factor uniform over its
/// settings.
///
/// Source of the sequence: Halton (1960), Numerische Mathematik 2, 84-90.
Eigen::MatrixXd region_sample(const std::vector<Factor>& factors, const Region& region, int points);

}  // namespace doetune::doe
