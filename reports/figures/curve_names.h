// Names of curves beside their ends, in room kept for them at the sides of a chart.
#pragma once

#include <string>
#include <vector>

#include "reports/figures/svg.h"

namespace doetune::reports {

enum class Side { kLeft, kRight };

/// Where a curve ends, and what stands there.
struct CurveEnd {
  Point at;
  std::string name;
  std::string colour;
};

/// A dot at each end and its name beside it, moved up or down where names would overlap.
void draw_curve_names(Chart& chart, const std::vector<CurveEnd>& ends, Side side);

/// By how much an axis of length `span` must be longer at one side, to have room there for the
/// longest of these names; the chart's size is that of the whole drawing, and `sides` of it need
/// the room.
double room_for_names(const std::vector<std::string>& names, double span, const Chart::Size& size,
                      int sides);

}  // namespace doetune::reports
