#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "doe/space_filling/criteria.h"
#include "doe/space_filling/latin_distances.h"
#include "doe/space_filling/pair_energy.h"
#include "doe/space_filling/search.h"
#include "tests/doe/factors.h"

using namespace doetune;
using namespace doetune::tests;
using doe::ColumnKind;
using doe::SpaceFillingCriterion;

namespace {

doe::UnitPoints continuous_points(Eigen::MatrixXd x) {
  return {x, std::vector<doe::Column>(x.cols())};
}

/// Latin hypercube columns, and with `mixed` a discrete and a nominal one at the end.
doe::UnitPoints random_points(int n, int k, bool mixed, RandomStream& random) {
  doe::UnitPoints points = continuous_points(Eigen::MatrixXd(n, k));
  for (int c = 0; c < k; ++c) {
    const std::vector<int> order = random_permutation(n, random);
    const int levels = mixed && c == k - 2 ? 4 : mixed && c == k - 1 ? 3 : n;
    if (levels == 4) points.columns[c] = {ColumnKind::kDiscrete, 4};
    if (levels == 3) points.columns[c] = {ColumnKind::kNominal, 3};
    for (int i = 0; i < n; ++i) points.x(i, c) = (order[i] % levels + 0.5) / levels;
  }
  return points;
}

double direct(SpaceFillingCriterion criterion, const doe::UnitPoints& points) {
  switch (criterion) {
    case SpaceFillingCriterion::kMaximin:
      return std::log(doe::phi_p(points, 32));
    case SpaceFillingCriterion::kMaxPro:
      return std::log(doe::maxpro(points)) / 2;
    case SpaceFillingCriterion::kCenteredL2:
      break;
  }
  return std::log(doe::centered_l2(points.x));
}

}  // namespace

TEST_CASE("Centred L2 discrepancy has its closed form for one and two points", "[doe][filling]") {
  // One point at the centre of k = 1: 13/12 - 2 + 1 = 1/12 (Hickernell 1998, eq. 5).
  CHECK(doe::centered_l2(Eigen::MatrixXd::Constant(1, 1, 0.5)) ==
        Approx(std::sqrt(1.0 / 12.0)).epsilon(1e-12));
  // In general (13/12)^k - 1 at the centre.
  CHECK(doe::centered_l2(Eigen::MatrixXd::Constant(1, 3, 0.5)) ==
        Approx(std::sqrt(std::pow(13.0 / 12.0, 3) - 1)).epsilon(1e-12));
  // The best two points for k = 1 are the cell centres 1/4, 3/4, with CD2^2 = 1 / (12 n^2).
  Eigen::MatrixXd two(2, 1);
  two << 0.25, 0.75;
  CHECK(doe::centered_l2(two) == Approx(std::sqrt(1.0 / 48.0)).epsilon(1e-12));
}

TEST_CASE("Distances and MaxPro take factors of every kind", "[doe][filling]") {
  doe::UnitPoints points = continuous_points(Eigen::MatrixXd(2, 3));
  points.x << 0, 0.5, 0.25, 0.3, 0.1, 0.75;
  points.columns = {{}, {ColumnKind::kDiscrete, 5}, {ColumnKind::kNominal, 2}};
  // 0.3^2 + 0.4^2, and 1 for the different level.
  CHECK(doe::min_distance(points) == Approx(std::sqrt(0.09 + 0.16 + 1)));
  CHECK(doe::phi_p(points, 15) == Approx(1 / std::sqrt(1.25)));
  // One pair: (1 / (0.3^2 (0.4 + 1/5)^2 (1 + 1/2)^2))^(1/3).
  CHECK(doe::maxpro(points) == Approx(std::cbrt(1 / (0.09 * 0.36 * 2.25))));
  points.x(1, 0) = 0;
  CHECK(std::isinf(doe::maxpro(points)));  // points coincide in a projection
}

TEST_CASE("Coded points come to the unit cube on their factor's scale", "[doe][filling]") {
  const std::vector<doe::Factor> factors{powers_of_two("b", {1, 2, 4, 8, 16}),
                                         words("w", {"x", "y"}), continuous("c")};
  Eigen::MatrixXd coded(6, 3);
  coded << -1, 0, -1, -0.5, 1, 0, 0, 0, 0.5, 0.5, 1, 1, 1, 0, 0, 0, 0, 0;
  const doe::UnitPoints points = doe::unit_cube(factors, coded);
  CHECK(points.x.row(1).isApprox(Eigen::RowVector3d(0.25, 0.75, 0.5)));
  CHECK(points.columns[0].kind == ColumnKind::kDiscrete);  // 5 levels, 6 runs
  CHECK(points.columns[0].levels == 5);
  CHECK(points.columns[1].kind == ColumnKind::kNominal);
  CHECK(points.columns[2].kind == ColumnKind::kContinuous);
}

TEST_CASE("A criterion updated move by move is the criterion computed afresh", "[doe][filling]") {
  RandomStream random(7, 0);
  for (const SpaceFillingCriterion criterion :
       {SpaceFillingCriterion::kMaximin, SpaceFillingCriterion::kMaxPro,
        SpaceFillingCriterion::kCenteredL2}) {
    for (const bool mixed : {false, true}) {
      const int n = 13;
      const int k = 4;
      doe::PairEnergy energy(criterion, random_points(n, k, mixed, random), 0);
      const double offset = energy.value() - direct(criterion, energy.points());
      for (int step = 0; step < 4000; ++step) {
        doe::PointMove move;
        move.column = doe::pick(k, random);
        move.row = doe::pick(n, random);
        move.partner = (move.row + 1 + doe::pick(n - 1, random)) % n;
        move.setting = energy.points().x(move.partner, move.column);
        move.partner_setting = energy.points().x(move.row, move.column);
        const double value = energy.value_after(move);
        if (step % 3 != 0) continue;  // evaluating a move without accepting it changes nothing
        energy.accept();
        // phi_32 spans so many powers of ten that value_after may lose its precision.
        if (criterion != SpaceFillingCriterion::kMaximin)
          CHECK(energy.value() == Approx(value).margin(1e-8));
      }
      // The energy omits constants of the criterion; a maximin search may pass through coincident
      // points, where the criterion itself is infinite.
      if (std::isfinite(direct(criterion, energy.points())) && std::isfinite(offset)) {
        CHECK(energy.value() - direct(criterion, energy.points()) == Approx(offset).margin(1e-8));
      }
      const double before = energy.value();
      energy.refresh();
      CHECK(energy.value() == Approx(before).margin(1e-8));
    }
  }
}

TEST_CASE("Single new settings update a criterion, and fixed points leave it", "[doe][filling]") {
  RandomStream random(8, 0);
  for (const SpaceFillingCriterion criterion :
       {SpaceFillingCriterion::kMaximin, SpaceFillingCriterion::kMaxPro,
        SpaceFillingCriterion::kCenteredL2}) {
    doe::UnitPoints points = random_points(12, 3, false, random);
    points.x.row(1) = points.x.row(0);  // existing runs may repeat
    doe::PairEnergy energy(criterion, points, 4);
    for (int step = 0; step < 2000; ++step) {
      energy.value_after({doe::pick(3, random), 4 + doe::pick(8, random), random.uniform()});
      energy.accept();
    }
    CHECK(energy.points().x.topRows(4) == points.x.topRows(4));
    const double before = energy.total();
    energy.refresh();
    CHECK(energy.total() == Approx(before).epsilon(1e-7));
    CHECK(std::isfinite(energy.criterion()));
  }
}

TEST_CASE("Distances of a Latin hypercube stay exact over thousands of swaps", "[doe][filling]") {
  RandomStream random(9, 0);
  for (const auto& start :
       {doe::random_latin(17, 4, random), doe::random_symmetric_latin(17, 4, random)}) {
    doe::LatinDistances state(start);
    state.aim_at(100);
    for (int step = 0; step < 5000; ++step) {
      const int a = doe::pick(17, random);
      const int b = (a + 1 + doe::pick(16, random)) % 17;
      const int column = doe::pick(4, random);
      const std::int64_t before = state.energy();
      const int change = state.swap_change(a, b, column);
      state.swap(a, b, column);
      REQUIRE(state.energy() == before + change);
    }
    const doe::LatinDistances afresh(state.levels());
    CHECK(state.min_distance() == afresh.min_distance());
    for (int i = 0; i < 17; ++i) {
      for (int j = 0; j < 17; ++j) CHECK(state.distance(i, j) == afresh.distance(i, j));
    }
  }
}

TEST_CASE("Symmetric hypercubes and good lattices are Latin", "[doe][filling]") {
  RandomStream random(10, 0);
  const auto latin = [](const Eigen::MatrixXi& levels) {
    for (Eigen::VectorXi column : levels.colwise()) {
      std::sort(column.begin(), column.end());
      for (int i = 0; i < column.size(); ++i) CHECK(column[i] == i);
    }
  };
  const Eigen::MatrixXi symmetric = doe::random_symmetric_latin(11, 3, random);
  latin(symmetric);
  for (int i = 0; i < 10; i += 2) {
    CHECK((symmetric.row(i) + symmetric.row(i + 1)).isConstant(10));
  }
  const Eigen::MatrixXi lattice = doe::best_lattice(25, 3, 500, random);
  latin(lattice);
  CHECK(doe::LatinDistances(lattice).min_distance() == 91);  // the best known value, attained by a
                                                             // lattice
}
