// Usable settings of factors as numbers of the unit interval.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "doe/factor.h"

namespace doetune::doe {

/// How many settings of a factor are usable.
double setting_count(const Factor& factor);

/// A coded setting in [0, 1]: numeric (c + 1) / 2; level l of L categorical ones (l + 1/2) / L.
double unit_setting(const Factor& factor, double coded);

/// The reverse of unit_setting, moved to the nearest usable setting.
double coded_setting(const Factor& factor, double unit);

/// The usable setting to which a uniform number u in [0, 1) belongs, in [0, 1]. Levels, and whole
/// numbers on a linear scale, get equal parts of the interval; others are the nearest to u.
double usable_setting(const Factor& factor, double u);

/// Where the levels of a Latin hypercube lie: over 0 .. 1 with both ends, i / (n - 1), or at the
/// middle of n equal cells, (i + 1/2) / n.
enum class Spread { kEnds, kCells };

/// `runs` usable settings of a factor in [0, 1], ascending: the levels of a Latin hypercube at the
/// nearest usable settings; where a factor has fewer settings than runs (or is categorical), each
/// setting as often as the others, or once more.
Eigen::VectorXd balanced_settings(const Factor& factor, int runs, Spread spread);

}  // namespace doetune::doe
