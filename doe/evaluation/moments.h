// Moment matrix: averages of products of model columns over a region.
#pragma once

#include <Eigen/Core>

#include "doe/model.h"
#include "doe/region.h"

namespace doetune::doe {

/// The moment matrix M = (1/V) int f(x) f(x)' dx (p x p) of a model's columns f over a region. The
/// average prediction variance f(x)' (X'X)^-1 f(x) over the region is tr((X'X)^-1 M), which
/// I-optimal designs minimise.
///
/// A continuous factor is uniform on [-1, 1] in coded units; a discrete, integer or categorical
/// factor is uniform over its settings. Over a box M is exact: a product of one-dimensional
/// moments. With constraints it is exact if no factor is continuous and there are at most 65,536
/// combinations, otherwise the mean over 65,536 quasi-random allowed points: entries are within
/// 0.002 for up to ten factors. Throws DesignError if no point is allowed.
///
/// Source: Atkinson, Donev & Tobias (2007), Optimum Experimental Designs, section 10.6.
Eigen::MatrixXd moment_matrix(const Model& model, const Region& region);

}  // namespace doetune::doe
