// Heat maps: discs of known centre.
#include <catch2/catch.hpp>

#include <cmath>
#include <vector>

#include "base/random.h"
#include "workloads/networks/heat_map.h"

using namespace doetune;
using namespace doetune::workloads;

namespace {

constexpr Shape kShape{1, 72, 128};

std::vector<float> cold() { return std::vector<float>(kShape.elements(), kHot - 1); }

/// Makes the pixels whose centres are within `radius` hot; returns how many.
int add_disc(std::vector<float>& map, double x, double y, double radius) {
  int pixels = 0;
  for (int row = 0; row < kShape.height; ++row)
    for (int column = 0; column < kShape.width; ++column)
      if (std::hypot(column + 0.5 - x, row + 0.5 - y) <= radius) {
        map[row * kShape.width + column] = 255;
        ++pixels;
      }
  return pixels;
}

}  // namespace

TEST_CASE("the spot of a disc has its centre and its pixels", "[heat-map]") {
  for (std::uint64_t k = 0; k < 50; ++k) {
    std::vector<float> map = cold();
    const double x = 10 + 100 * random_unit(k, 0);
    const double y = 10 + 50 * random_unit(k, 1);
    const int pixels = add_disc(map, x, y, 4);
    const auto spot = largest_spot(map, kShape);
    REQUIRE(spot);
    CHECK(spot->pixels == pixels);
    CHECK(spot->x * kShape.width == Approx(x).margin(0.5));
    CHECK(spot->y * kShape.height == Approx(y).margin(0.5));
  }
}

TEST_CASE("of several spots the largest is found, of equal ones the first", "[heat-map]") {
  std::vector<float> map = cold();
  add_disc(map, 20, 20, 3);
  add_disc(map, 90, 50, 5);
  add_disc(map, 40, 60, 3);
  CHECK(largest_spot(map, kShape)->x * kShape.width == Approx(90));
  map = cold();
  map[0] = map[kShape.width + 1] = kHot;  // they touch at a corner, which does not count
  const auto spot = largest_spot(map, kShape);
  CHECK(spot->pixels == 1);
  CHECK(spot->x == Approx(0.5 / kShape.width));
}

TEST_CASE("a map without a hot pixel shows nothing, and a hot one everything", "[heat-map]") {
  CHECK_FALSE(largest_spot(cold(), kShape));
  const auto spot = largest_spot(std::vector<float>(kShape.elements(), 255), kShape);
  CHECK(spot->pixels == kShape.elements());
  CHECK(spot->x == Approx(0.5));
}
