// The axes of figures: a factor, labelled rows.
#pragma once

#include <string>
#include <vector>

#include "doe/factor.h"
#include "reports/figures/svg.h"

namespace doetune::reports {

/// The axis of a factor in coded units, with ticks at permitted settings; levels are spaced by 1.
Axis factor_axis(const doe::Factor& factor);

/// An axis of labelled rows, the first on top: row i of n is at n - 1 - i.
Axis row_axis(const std::vector<std::string>& labels);

/// The size of a chart with these rows, including space for their labels.
Chart::Size size_of_rows(const Axis& rows);

/// Settings of a numeric factor for ticks, in natural units.
std::vector<double> marked_settings(const doe::Factor& factor);

/// Coded positions at which a curve along a factor is drawn: its levels, or equidistant over its
/// range.
std::vector<double> coded_positions(const doe::Factor& factor);

/// The same with the position at which the factor is held elsewhere.
std::vector<double> coded_positions(const doe::Factor& factor, double held);

}  // namespace doetune::reports
