// Labels curves at their ends, in space reserved at the sides of a chart.
#pragma once

#include <string>
#include <vector>

#include "reports/figures/svg.h"

namespace doetune::reports {

enum class Side { kLeft, kRight };

/// The end of a curve and its label.
struct CurveEnd {
  Point at;
  std::string name;
  std::string colour;
};

/// Draws a dot and a label at each end, shifting labels vertically to avoid overlaps.
void draw_curve_names(Chart& chart, const std::vector<CurveEnd>& ends, Side side);

/// The extension of an axis of length `span` at one side that gives space for the longest of these
/// names. `size` is that of the whole drawing; `sides` is the number of sides to extend.
double space_for_names(const std::vector<std::string>& names, double span, const Chart::Size& size,
                       int sides);

}  // namespace doetune::reports
