// Usable settings of factors mapped to the unit interval.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "doe/factor.h"

namespace doetune::doe {

/// The number of usable settings of a factor.
double setting_count(const Factor& factor);

/// A coded setting mapped to [0, 1]: numeric (c + 1) / 2; level l of L categorical levels (l + 1/2)
/// / L.
double unit_setting(const Factor& factor, double coded);

/// The inverse of unit_setting, rounded to the nearest usable setting.
double coded_setting(const Factor& factor, double unit);

/// The usable setting, in [0, 1], that a uniform number u in [0, 1) maps to. Levels, and integers
/// on a linear scale, get equal parts of the interval; other factors take the setting nearest to u.
double usable_setting(const Factor& factor, double u);

/// Positions of the levels of a Latin hypercube: over 0 .. 1 including both ends, i / (n - 1), or
/// at the centres of n equal cells, (i + 1/2) / n.
enum class Spread { kEnds, kCells };

/// `runs` usable settings of a factor in [0, 1], ascending: the usable settings nearest to the
/// levels of a Latin hypercube; if a factor has fewer settings than runs (or is categorical), all
/// settings with frequencies that differ by at most one.
Eigen::VectorXd balanced_settings(const Factor& factor, int runs, Spread spread);

}  // namespace doetune::doe
