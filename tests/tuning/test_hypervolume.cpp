#include <algorithm>
#include <catch2/catch.hpp>

#include "base/random.h"
#include "tuning/hypervolume.h"

using namespace doetune;
using namespace doetune::tuning;

namespace {

using Point = std::vector<double>;

/// Of points with integer coordinates up to `most`: the number of unit cubes below any of them.
int cubes_below(const std::vector<Point>& points, int most) {
  const std::size_t goals = points.front().size();
  int total = 1, count = 0;
  for (std::size_t g = 0; g < goals; ++g) total *= most;
  for (int cube = 0; cube < total; ++cube) {
    Point corner;
    for (int rest = cube; corner.size() < goals; rest /= most) corner.push_back(rest % most + 1);
    count += std::any_of(points.begin(), points.end(), [&](const Point& point) {
      return std::equal(corner.begin(), corner.end(), point.begin(), std::less_equal<>());
    });
  }
  return count;
}

}  // namespace

// Theory: the volume of a union of boxes with integer corners is the number of unit cubes in it.
TEST_CASE("the volume of a front is that of the union of its boxes, in two to four goals") {
  RandomStream random(3, 0);
  for (const int goals : {2, 3, 4}) {
    for (int repeat = 0; repeat < 20; ++repeat) {
      std::vector<Point> points(8, Point(static_cast<std::size_t>(goals)));
      for (Point& point : points) {
        for (double& value : point) value = static_cast<double>(1 + random.below(6));
      }
      const Point last = points.back();
      points.pop_back();
      const Front front(points);
      const int before = cubes_below(points, 6);
      CHECK(front.volume() == Approx(before));
      points.push_back(last);
      CHECK(front.added_by(last) == Approx(cubes_below(points, 6) - before).margin(1e-9));
    }
  }
}

TEST_CASE("what is not better than the reference in every goal adds no volume") {
  const Front front({{1, 2}, {2, 1}, {1, 1}, {3, -1}});
  CHECK(front.points().size() == 2);
  CHECK(front.volume() == Approx(3));
  CHECK(front.added_by({5, 0}) == 0);
  CHECK(front.added_by({-1, 5}) == 0);
  CHECK(front.added_by({1, 2}) == 0);
  CHECK(Front({}).added_by({2, 3}) == Approx(6));
}
