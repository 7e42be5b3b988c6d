#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "doe/design.h"

using namespace doetune;
using doe::PointType;

namespace {

doe::Design design_of(int runs, int center_runs) {
  doe::Design design;
  for (int i = 0; i < runs; ++i) design.points.push_back({Eigen::VectorXd::Constant(1, i)});
  for (int i = 0; i < center_runs; ++i) {
    design.points.push_back({Eigen::VectorXd::Zero(1), PointType::kCenter});
  }
  return design;
}

std::vector<int> center_positions(const doe::Design& design, const std::vector<int>& order) {
  std::vector<int> positions;
  for (std::size_t at = 0; at < order.size(); ++at) {
    if (design.points[order[at]].type == PointType::kCenter) {
      positions.push_back(static_cast<int>(at));
    }
  }
  return positions;
}

}  // namespace

TEST_CASE("Centre runs are spread evenly over the order", "[doe][design]") {
  // NIST/SEMATECH e-Handbook 5.3.3.7: one at the beginning, one at the end, others in between.
  const auto positions = [](int runs, int center_runs) {
    const doe::Design design = design_of(runs, center_runs);
    return center_positions(design, doe::random_run_order(design, 1));
  };
  CHECK(positions(8, 3) == std::vector<int>{0, 5, 10});
  CHECK(positions(14, 6) == std::vector<int>{0, 4, 8, 11, 15, 19});
  CHECK(positions(8, 1) == std::vector<int>{4});
  CHECK(positions(8, 0).empty());
  CHECK(positions(0, 4) == std::vector<int>{0, 1, 2, 3});
  CHECK(positions(1, 6) == std::vector<int>{0, 1, 2, 4, 5, 6});
}

TEST_CASE("Centre runs are spread in every block", "[doe][design]") {
  doe::Design design = design_of(6, 4);
  for (std::size_t i = 0; i < design.points.size(); ++i) {
    design.points[i].block = 1 + static_cast<int>(i % 2);
  }
  CHECK(center_positions(design, doe::random_run_order(design, 3)) == std::vector<int>{0, 4, 5, 9});
}

TEST_CASE("Runs other than centre runs are in random order", "[doe][design]") {
  const doe::Design design = design_of(4, 2);
  std::set<std::vector<int>> orders;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    orders.insert(doe::random_run_order(design, seed));
  }
  CHECK(orders.size() == 24 * 2);  // all orders of four runs, and of two centre runs
}

TEST_CASE("Whole plots keep together, in random order", "[doe][design]") {
  doe::Design design = design_of(24, 0);
  for (int i = 0; i < 24; ++i) {
    design.points[i].block = 1 + i / 12;
    design.points[i].whole_plot = 1 + i % 12 / 3 + (i < 12 ? 0 : 4);
  }
  std::set<std::vector<int>> plot_orders;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    const std::vector<int> order = doe::random_run_order(design, seed);
    std::vector<int> plots;
    for (int at = 0; at < 24; ++at) {
      const int plot = design.points[order[at]].whole_plot;
      if (at % 3 == 0) plots.push_back(plot);
      REQUIRE(plots.back() == plot);
      REQUIRE(design.points[order[at]].block == 1 + at / 12);
    }
    plot_orders.insert({plots.begin(), plots.begin() + 4});
    REQUIRE(std::set<int>(order.begin(), order.end()).size() == 24);
  }
  CHECK(plot_orders.size() == 24);
}
