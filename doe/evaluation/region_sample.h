// Quasi-random sample of the allowed points of a region.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "doe/factor.h"
#include "doe/region.h"

namespace doetune::doe {

/// The coded values of a discrete, integer or categorical factor, ascending; empty for a continuous
/// factor.
std::vector<double> coded_settings(const Factor& factor);

/// Whether no factor is continuous and there are at most `most` combinations of settings.
bool few_combinations(const std::vector<Factor>& factors, int most);

/// Allowed coded points (m x k), the same at every call. With few_combinations(factors, points)
/// each of them once; otherwise the allowed ones among the first points of a quasi-random sequence,
/// until `points` are found (fewer if under one point in 64 is allowed). Continuous factors are
/// uniform on [-1, 1], other factors uniform over their settings.
///
/// Source of the sequence: Halton (1960), Numerische Mathematik 2, 84-90.
Eigen::MatrixXd region_sample(const std::vector<Factor>& factors, const Region& region, int points);

}  // namespace doetune::doe
