#include <Eigen/Dense>
#include <catch2/catch.hpp>
#include <cmath>
#include <memory>
#include <numeric>

#include "doe/evaluation/comparison.h"
#include "doe/evaluation/full_evaluation.h"
#include "doe/space_filling/criteria.h"
#include "tests/doe/factors.h"

using namespace doetune;
using namespace doetune::tests;

namespace {

std::vector<doe::Factor> two_level_factors(int k) {
  std::vector<doe::Factor> factors;
  for (int f = 0; f < k; ++f) {
    factors.push_back(powers_of_two(std::string(1, char('a' + f)), {1, 2}));
  }
  return factors;
}

Eigen::MatrixXd factorial(int levels, int k) {
  const auto runs = static_cast<int>(std::lround(std::pow(levels, k)));
  Eigen::MatrixXd x(runs, k);
  for (int i = 0; i < runs; ++i) {
    for (int f = 0, rest = i; f < k; ++f, rest /= levels) {
      x(i, f) = 2.0 * (rest % levels) / (levels - 1) - 1;
    }
  }
  return x;
}

/// Plackett & Burman (1946): 12 runs, cyclic shifts of ++-+++---+- and a row of -1.
Eigen::MatrixXd plackett_burman_12() {
  const int generator[] = {1, 1, -1, 1, 1, 1, -1, -1, -1, 1, -1};
  Eigen::MatrixXd x = -Eigen::MatrixXd::Ones(12, 11);
  for (int i = 0; i < 11; ++i) {
    for (int f = 0; f < 11; ++f) x(i, f) = generator[(f + 11 - i) % 11];
  }
  return x;
}

double normal_cdf(double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; }

/// Power of the two-sided t test with 4 degrees of freedom, critical value 2.776445105 (Student),
/// by Simpson's rule over the chi-squared error: density w exp(-w/2) / 4.
double t_test_power(double delta) {
  constexpr int kSteps = 20000;
  constexpr double kWidth = 80.0 / kSteps;
  double missed = 0;
  for (int i = 0; i <= kSteps; ++i) {
    const double w = kWidth * i;
    const double limit = 2.776445105 * std::sqrt(w / 4);
    const double inside = normal_cdf(limit - delta) - normal_cdf(-limit - delta);
    missed += inside * w * std::exp(-w / 2) / 4 * (i % 2 == 1 ? 4 : 2) * kWidth / 3;
  }
  return 1 - missed;
}

}  // namespace

TEST_CASE("The 3^2 factorial in full: leverages, G, I", "[doe][full-evaluation]") {
  // By hand: (X'X)^-1 gives d = 5/9 at the centre and the edge midpoints, 29/36 at the corners.
  const doe::Model model = doe::Model::named("quadratic", unit_factors(2));
  const doe::FullEvaluation full = doe::evaluate_fully(model, {}, factorial(3, 2));
  const double corner = 29.0 / 36;
  const double other = 5.0 / 9;
  const double expected[] = {corner, other, corner, other, other, other, corner, other, corner};
  REQUIRE(full.leverages.size() == 9);
  for (int i = 0; i < 9; ++i) CHECK(full.leverages[i] == Approx(expected[i]));
  CHECK(*full.g_efficiency == Approx(100 * 6 / (9 * corner)));
  CHECK(full.max_variance->proven);
  CHECK(*full.g_efficiency_least <= *full.g_efficiency);
  CHECK(*full.g_efficiency_least == Approx(*full.g_efficiency).epsilon(2e-6));
  CHECK(*full.average_variance > 0.42646);                 // the best nine runs known
  const std::vector<double>& q = full.variance_quantiles;  // the trapezium rule over them gives the
                                                           // average
  const double sum = std::accumulate(q.begin(), q.end(), -(q.front() + q.back()) / 2);
  CHECK(*full.average_variance == Approx(sum / 20).epsilon(0.01));
  CHECK(*full.min_distance == Approx(0.5));
  CHECK(*full.basics.d_efficiency == Approx(46.2241).epsilon(1e-6));
}

TEST_CASE("Half the square around a 2^2 design is predicted with variance below 0.4092",
          "[doe][full-evaluation]") {
  // d = (1 + a^2 + b^2) / 4, and a^2 + b^2 <= 2 / pi covers half of the square.
  const doe::Model model = doe::Model::named("linear", unit_factors(2));
  const doe::FullEvaluation full = doe::evaluate_fully(model, {}, factorial(2, 2));
  REQUIRE(full.variance_quantiles.size() == 21);
  CHECK(full.variance_quantiles.front() == Approx(0.25).margin(1e-3));
  CHECK(full.variance_quantiles[10] == Approx((1 + 2 / M_PI) / 4).margin(1e-3));
  CHECK(full.variance_quantiles.back() == Approx(0.75));
}

TEST_CASE("Power is that of the t test", "[doe][full-evaluation]") {
  // 2^3 runs, linear: 4 degrees of freedom for error, coefficient variance 1/8.
  const doe::Model model = doe::Model::named("linear", unit_factors(3));
  for (const double effect : {0.0, 0.5, 1.0, 2.0}) {
    const doe::FullEvaluation full =
        doe::evaluate_fully(model, {}, factorial(2, 3), {.effect = effect});
    REQUIRE(full.powers.size() == 3);
    for (const doe::TermPower& found : full.powers) {
      CHECK(*found.power == Approx(t_test_power(effect * std::sqrt(8))).margin(1e-6));
    }
  }
  const doe::FullEvaluation certain =
      doe::evaluate_fully(model, {}, factorial(2, 3), {.effect = 1e3});
  CHECK(*certain.powers[0].power == Approx(1));
  const doe::Model saturated = doe::Model::named("interactions", unit_factors(2));
  CHECK_FALSE(doe::evaluate_fully(saturated, {}, factorial(2, 2)).powers[0].power);
}

TEST_CASE("The power of a word is that of its one-way analysis of variance",
          "[doe][full-evaluation]") {
  // r runs at each of 3 levels with means 1, -1, 0: lambda = r (1 + 1 + 0). Without an effect the
  // power is the significance level.
  const doe::Model model = doe::Model::named("linear", {words("w", {"x", "y", "z"})});
  Eigen::MatrixXd coded(12, 1);
  for (int i = 0; i < 12; ++i) coded(i, 0) = i % 3;
  const Eigen::MatrixXd x = model.matrix(coded);
  const Eigen::MatrixXd inverse = (x.transpose() * x).inverse();
  CHECK(*doe::term_powers(model, 12, inverse, 0, 0.1)[0].power == Approx(0.1));
  const Eigen::Vector2d b(1, -1);
  CHECK(b.dot(inverse.bottomRightCorner(2, 2).inverse() * b) == Approx(4 * 2));
  CHECK(*doe::term_powers(model, 12, inverse, 1, 0.05)[0].power > 0.5);
}

TEST_CASE("The half fraction c = a b confounds each factor with an interaction",
          "[doe][full-evaluation]") {
  // Box, Hunter & Hunter, ch. 12: I = abc, so a = bc, b = ac, c = ab.
  Eigen::MatrixXd x(4, 3);
  x.leftCols(2) = factorial(2, 2);
  x.col(2) = x.col(0).cwiseProduct(x.col(1));
  const doe::Model model = doe::Model::named("linear", two_level_factors(3));
  const doe::FullEvaluation full = doe::evaluate_fully(model, {}, x);
  CHECK(full.alias_sets == std::vector<std::string>{"a = b*c", "b = a*c", "c = a*b"});
  CHECK(full.aliases.columns == std::vector<std::string>{"a*b", "a*c", "b*c"});
  Eigen::MatrixXd expected = Eigen::MatrixXd::Zero(4, 3);
  expected(3, 0) = expected(2, 1) = expected(1, 2) = 1;
  CHECK(full.aliases.values.isApprox(expected));
  x.col(2) *= -1;
  CHECK(doe::alias_sets(model, x)[0] == "a = -b*c");
}

TEST_CASE("In 12 Plackett-Burman runs factors and interactions correlate by 1/3",
          "[doe][full-evaluation]") {
  // Known properties of this design: every factor is orthogonal to the interactions that contain
  // it, and has correlation 1/3 in magnitude with the other 45.
  const doe::Model model = doe::Model::named("linear", two_level_factors(11));
  const doe::FullEvaluation full = doe::evaluate_fully(model, {}, plackett_burman_12());
  CHECK(*full.basics.d_efficiency == Approx(100));
  REQUIRE(full.correlation.columns.size() == 11 + 55);
  for (int f = 0; f < 11; ++f) {
    int thirds = 0;
    for (int c = 11; c < 66; ++c) {
      const double r = full.correlation.values(f, c);
      CHECK((r == Approx(1.0 / 3) || r == Approx(0).margin(1e-12)));
      thirds += r > 0.1 ? 1 : 0;
    }
    CHECK(thirds == 45);
  }
}

TEST_CASE("A singular design keeps what needs no inverse", "[doe][full-evaluation]") {
  const doe::Model model = doe::Model::named("quadratic", unit_factors(2));
  const doe::FullEvaluation full = doe::evaluate_fully(model, {}, factorial(2, 2));
  CHECK_FALSE(full.g_efficiency);
  CHECK_FALSE(full.average_variance);
  CHECK(full.leverages.empty());
  CHECK(full.variance_quantiles.empty());
  CHECK(full.alias_sets == std::vector<std::string>{"1 = a^2 = b^2"});
  CHECK(full.correlation.columns == std::vector<std::string>{"a", "b", "a*b"});
  CHECK(*full.min_distance == Approx(1));
}

TEST_CASE("A region in which no point is found keeps what needs no region",
          "[doe][full-evaluation]") {
  const std::vector<doe::Factor> factors = unit_factors(2);
  const doe::Region nowhere(
      factors,
      {std::make_shared<const doe::Expression>("a > 2", std::vector<std::string>{"a", "b"})}, {});
  const doe::FullEvaluation full =
      doe::evaluate_fully(doe::Model::named("linear", factors), nowhere, factorial(2, 2));
  CHECK_FALSE(full.g_efficiency);
  CHECK(full.leverages.size() == 4);
}

TEST_CASE("The centred grid has centred L2 discrepancy 1 / sqrt(12) / n on a line",
          "[doe][full-evaluation]") {
  // Hickernell (1998) for k = 1; for one point at the centre of the cube: (13/12)^k - 1.
  for (const int n : {1, 2, 10, 33}) {
    Eigen::MatrixXd points(n, 1);
    for (int i = 0; i < n; ++i) points(i, 0) = (i + 0.5) / n;
    CHECK(doe::centered_l2(points) == Approx(1 / (n * std::sqrt(12.0))));
  }
  CHECK(doe::centered_l2(Eigen::MatrixXd::Constant(1, 3, 0.5)) ==
        Approx(std::sqrt(std::pow(13.0 / 12, 3) - 1)));
}

TEST_CASE("Runs that differ in a word are 1 apart", "[doe][full-evaluation]") {
  const std::vector<doe::Factor> factors{continuous("a"), words("w", {"x", "y", "z"})};
  Eigen::MatrixXd coded(3, 2);
  coded << -1, 0, -1, 2, 1, 0;
  CHECK(doe::min_distance(doe::unit_cube(factors, coded)) == Approx(1));
  coded(2, 0) = 0;
  CHECK(doe::min_distance(doe::unit_cube(factors, coded)) == Approx(0.5));
}

TEST_CASE("Two designs side by side", "[doe][full-evaluation]") {
  // 2^2 against 3^2 for a linear model: both are orthogonal; the 3^2 has more error df but its
  // coefficient variances are 1/6, so D-efficiency (9 6 6)^(1/3) / 9.
  const doe::Model model = doe::Model::named("linear", unit_factors(2));
  const auto rows = doe::compare(doe::evaluate_fully(model, {}, factorial(2, 2)),
                                 doe::evaluate_fully(model, {}, factorial(3, 2)));
  const auto row = [&](const std::string& name) {
    for (const doe::ComparisonRow& candidate : rows) {
      if (candidate.name == name) return candidate;
    }
    FAIL("no row " << name);
    return doe::ComparisonRow{};
  };
  CHECK(*row("runs").b == 9);
  CHECK(*row("D-efficiency, percent").a == Approx(100));
  CHECK(*row("D-efficiency, percent").b == Approx(100 * std::cbrt(9.0 * 36) / 9));
  CHECK(*row("largest prediction variance").b == Approx(1.0 / 9 + 2.0 / 6));
  CHECK(*row("smallest distance of two runs").a == Approx(1));
  CHECK(*row("power of b").a < *row("power of b").b);
  CHECK(row("average prediction variance").better == -1);
  const doe::FullEvaluation singular =
      doe::evaluate_fully(doe::Model::named("quadratic", unit_factors(2)), {}, factorial(2, 2));
  CHECK_FALSE(doe::compare(singular, singular)[2].a);
}
