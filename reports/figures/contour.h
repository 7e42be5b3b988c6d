// Contours of a function on a rectangular grid: contour lines and filled regions.
#pragma once

#include <functional>
#include <limits>
#include <vector>

namespace doetune::reports {

struct Point {
  double x = 0;
  double y = 0;
};

using Polyline = std::vector<Point>;

/// Values z(x, y) at the nodes of a grid with ascending x and y; z[j * x.size() + i] belongs to
/// (x[i], y[j]) and is finite.
struct Grid {
  std::vector<double> x, y, z;

  double at(int i, int j) const { return z[static_cast<std::size_t>(j) * x.size() + i]; }
};

/// A grid of `nodes` x `nodes` equidistant nodes over [low, high] x [low, high].
Grid square_grid(double low, double high, int nodes,
                 const std::function<double(double, double)>& value);

/// Marching triangles: each cell is split into four triangles that meet at its centre, with the
/// mean value of its nodes, and the function is linear in each. There are no ambiguous saddles, and
/// lines and regions of adjacent cells meet exactly.
///
/// The lines at which the function equals `level`; a closed line ends with its first point.
std::vector<Polyline> iso_lines(const Grid& grid, double level);

/// The region low <= z < high as closed rings (without the repeated first point), outer rings
/// counter-clockwise, holes clockwise; valid for either SVG fill rule.
std::vector<Polyline> region_between(const Grid& grid, double low,
                                     double high = std::numeric_limits<double>::infinity());

/// Area of the polygon, positive where it runs counter-clockwise (shoelace formula).
double signed_area(const Polyline& ring);

/// The line with as few points as possible within `tolerance`; keeps the first and last point.
/// Source: Douglas & Peucker (1973).
Polyline simplified(const Polyline& line, double tolerance);

/// A closed ring of a region over the grid, simplified where it runs inside the grid; what lies on
/// the edge of the grid stays there, up to its corners.
Polyline simplified_inside(const Grid& grid, const Polyline& ring, double tolerance);

/// About `count` round numbers in [low, high], spaced by 1, 2, 2.5 or 5 times a power of ten.
std::vector<double> round_levels(double low, double high, int count);

}  // namespace doetune::reports
