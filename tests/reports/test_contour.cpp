#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <numbers>

#include "reports/figures/contour.h"

using namespace doetune::reports;

namespace {

double total_area(const std::vector<Polyline>& rings) {
  double area = 0;
  for (const Polyline& ring : rings) area += signed_area(ring);
  return area;
}

double length(const Polyline& line) {
  double sum = 0;
  for (std::size_t i = 1; i < line.size(); ++i) {
    sum += std::hypot(line[i].x - line[i - 1].x, line[i].y - line[i - 1].y);
  }
  return sum;
}

}  // namespace

TEST_CASE("An iso-line of a plane is a straight line from edge to edge", "[reports][contour]") {
  const Grid plane = square_grid(-1, 1, 9, [](double x, double y) { return 3 * x + 2 * y; });
  const std::vector<Polyline> lines = iso_lines(plane, 0.7);
  REQUIRE(lines.size() == 1);
  for (const Point& p : lines[0]) CHECK(3 * p.x + 2 * p.y == Approx(0.7));
  // 3x + 2y = 0.7 leaves the square where y = 1 and where y = -1.
  CHECK(length(lines[0]) == Approx(std::hypot(4.0 / 3, 2)));
  CHECK(simplified(lines[0], 1e-9).size() == 2);
}

TEST_CASE("An iso-line of x^2 + y^2 is a circle", "[reports][contour]") {
  const Grid bowl = square_grid(-1, 1, 101, [](double x, double y) { return x * x + y * y; });
  const std::vector<Polyline> lines = iso_lines(bowl, 0.49);
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].front().x == lines[0].back().x);  // closed
  CHECK(lines[0].front().y == lines[0].back().y);
  for (const Point& p : lines[0]) CHECK(std::hypot(p.x, p.y) == Approx(0.7).epsilon(1e-3));
  CHECK(length(lines[0]) == Approx(2 * std::numbers::pi * 0.7).epsilon(1e-3));

  const std::vector<Polyline> ring = region_between(bowl, 0.25, 0.49);
  REQUIRE(ring.size() == 2);  // the outer circle and the hole
  CHECK(total_area(ring) == Approx(std::numbers::pi * (0.49 - 0.25)).epsilon(1e-3));
}

TEST_CASE("Bands tile the square: no gap, no overlap", "[reports][contour]") {
  const Grid grid = square_grid(
      -1, 1, 23, [](double x, double y) { return std::sin(3 * x) * std::cos(4 * y) + 0.3 * x; });
  double area = 0;
  for (double low = -1.5; low < 1.5; low += 0.25) {
    area += total_area(region_between(grid, low, low + 0.25));
  }
  CHECK(area == Approx(4));
}

TEST_CASE("A region's boundary inside the square is the iso-line at its level",
          "[reports][contour]") {
  const Grid saddle = square_grid(-1, 1, 20, [](double x, double y) { return x * y; });
  for (const double level : {-0.3, 0.0, 0.3}) {
    const double above = total_area(region_between(saddle, level));
    const double below = total_area(region_between(saddle, -10, level));
    CHECK(above + below == Approx(4));
  }
  CHECK(total_area(region_between(saddle, 0)) == Approx(2));  // by symmetry
  CHECK(iso_lines(saddle, 0.3).size() == 2);
}

TEST_CASE("A level outside the values has no line, and its region is nothing or all",
          "[reports][contour]") {
  const Grid flat = square_grid(-1, 1, 5, [](double, double) { return 2.0; });
  CHECK(iso_lines(flat, 3).empty());
  CHECK(iso_lines(flat, 1).empty());
  CHECK(region_between(flat, 3).empty());
  CHECK(total_area(region_between(flat, 1)) == Approx(4));
  CHECK(total_area(region_between(flat, 2)) == Approx(4));
}

TEST_CASE("Simplified lines stay within the tolerance", "[reports][contour]") {
  Polyline arc;
  for (int i = 0; i <= 500; ++i) arc.push_back({std::cos(i / 100.0), std::sin(i / 100.0)});
  const Polyline few = simplified(arc, 0.01);
  CHECK(few.size() < 40);
  for (std::size_t i = 1; i < few.size(); ++i) {
    // The middle of each chord is the point farthest from the circle.
    const double radius = std::hypot((few[i].x + few[i - 1].x) / 2, (few[i].y + few[i - 1].y) / 2);
    CHECK(1 - radius <= 0.01 + 1e-12);
  }
}

TEST_CASE("Simplified regions reach the corners of the grid wherever their rings begin",
          "[reports][contour]") {
  // The triangle x + y > 0.5 in steps of a cell; its only corner of the grid is (1, 1).
  const Grid grid =
      square_grid(-1, 1, 161, [](double x, double y) { return x + y > 0.5 ? 1 : -1; });
  const double cell = grid.x[1] - grid.x[0];
  Polyline ring = region_between(grid, 0)[0];
  int without_corner = 0;
  for (std::size_t start = 0; start < ring.size(); ++start) {
    std::rotate(ring.begin(), ring.begin() + 1, ring.end());
    const Polyline simple = simplified_inside(grid, ring, cell);
    CHECK(simple.size() < ring.size());
    CHECK(signed_area(simple) == Approx(signed_area(ring)).margin(2 * cell));
    if (std::none_of(simple.begin(), simple.end(),
                     [](const Point& p) { return p.x == 1 && p.y == 1; })) {
      ++without_corner;
    }
  }
  CHECK(without_corner == 0);
}

TEST_CASE("Levels are round numbers inside the range", "[reports][contour]") {
  CHECK(round_levels(941, 3126, 9) ==
        std::vector<double>{1000, 1250, 1500, 1750, 2000, 2250, 2500, 2750, 3000});
  CHECK(round_levels(0, 1, 5).size() == 6);
  CHECK(round_levels(5, 5, 5).empty());
  CHECK(round_levels(-3e-7, 4e-7, 7).size() >= 7);
}
