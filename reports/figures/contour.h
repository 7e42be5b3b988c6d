// Contours of a function on a rectangular grid: iso-lines and the regions between them.
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

/// `nodes` equidistant nodes each way over [low, high] x [low, high].
Grid square_grid(double low, double high, int nodes,
                 const std::function<double(double, double)>& value);

/// Marching over four triangles a cell (their common corner is the cell's centre, at the mean of
/// its nodes), in which the function is linear: no ambiguous saddle, and lines and regions of
/// neighbouring cells meet exactly.
///
/// The lines where the function crosses `level`; a closed line ends with its first point.
std::vector<Polyline> iso_lines(const Grid& grid, double level);

/// The region low <= z < high as closed rings (without the repeated first point), outer rings
/// counter-clockwise, holes clockwise: fill by either rule.
std::vector<Polyline> region_between(const Grid& grid, double low,
                                     double high = std::numeric_limits<double>::infinity());

/// Area of the polygon, positive where it runs counter-clockwise (shoelace formula).
double signed_area(const Polyline& ring);

/// The line with as few points as stay within `tolerance` of it; first and last are kept.
/// Source: Douglas & Peucker (1973).
Polyline simplified(const Polyline& line, double tolerance);

/// About `count` round numbers (1, 2, 2.5 or 5 times a power of ten apart) inside [low, high].
std::vector<double> round_levels(double low, double high, int count);

}  // namespace doetune::reports
