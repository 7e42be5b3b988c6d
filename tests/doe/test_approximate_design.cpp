#include <catch2/catch.hpp>
#include <cmath>
#include <memory>

#include "base/random.h"
#include "doe/evaluation.h"
#include "doe/evaluation/moments.h"
#include "doe/evaluation/region_sample.h"
#include "doe/optimal/approximate_design.h"
#include "tests/doe/factors.h"

using namespace doetune;
using namespace doetune::tests;

namespace {

constexpr double kEnough_s = 600;  // all converge before that, however slow the machine

}  // namespace

TEST_CASE("The limits of quadratics on the cube are the known ones", "[doe][approximate]") {
  // D-efficiency limits in percent for k = 1 .. 6 factors; for k = 1 it is 100 (4/27)^(1/3).
  const double known[] = {52.9134, 47.4594, 47.4478, 48.8570, 50.6859, 52.5992};
  for (int k = 1; k <= 6; ++k) {
    const auto bound =
        doe::d_bound(doe::Model::named("quadratic", numbered_factors(k)), {}, kEnough_s);
    REQUIRE(bound);
    CHECK(bound->proven);
    CHECK(bound->efficiency_percent == Approx(known[k - 1]).margin(1e-4));
    CHECK(bound->attained_percent <= bound->efficiency_percent);
  }
  const auto twenty =
      doe::d_bound(doe::Model::named("quadratic", numbered_factors(20)), {}, kEnough_s);
  CHECK(twenty->efficiency_percent == Approx(70.36).margin(5e-3));
}

TEST_CASE("The search over points agrees with the symmetric solution", "[doe][approximate]") {
  // Optimal measures of quadratics have support in {-1, 0, 1}^k, the only points of three levels.
  const std::vector<doe::Factor> whole_numbers{whole("a", 1, 3), whole("b", 1, 3),
                                               whole("c", 1, 3)};
  const auto bound = doe::d_bound(doe::Model::named("quadratic", whole_numbers), {}, kEnough_s);
  REQUIRE(bound);
  CHECK(bound->proven);
  CHECK(bound->efficiency_percent == Approx(47.4478).epsilon(3e-5));
}

TEST_CASE("Cubics on a line: Guest's four points", "[doe][approximate]") {
  // Guest (1958): -1, -1/sqrt(5), 1/sqrt(5), 1 with equal frequencies.
  const doe::Model model = doe::Model::named("cubic", numbered_factors(1));
  Eigen::MatrixXd points(4, 1);
  points << -1, -std::sqrt(0.2), std::sqrt(0.2), 1;
  const auto bound = doe::d_bound(model, {}, kEnough_s);
  REQUIRE(bound);
  CHECK(bound->proven);
  CHECK(bound->efficiency_percent ==
        Approx(*doe::evaluate(model, points).d_efficiency).epsilon(3e-5));
}

TEST_CASE("Orthogonal two-level designs are best for linear models", "[doe][approximate]") {
  for (const char* name : {"linear", "interactions"}) {
    const auto bound = doe::d_bound(doe::Model::named(name, numbered_factors(5)), {}, kEnough_s);
    REQUIRE(bound);
    CHECK(bound->efficiency_percent == Approx(100).epsilon(3e-5));
  }
}

TEST_CASE("No random design passes the limit, with levels and settings too", "[doe][approximate]") {
  const std::vector<doe::Factor> factors{continuous("a"), powers_of_two("b", {1, 2, 4, 32}),
                                         words("w", {"x", "y", "z"})};
  const doe::Model model = doe::Model::named("quadratic", factors);
  const auto bound = doe::d_bound(model, {}, kEnough_s);
  REQUIRE(bound);
  CHECK(bound->proven);
  CHECK(bound->efficiency_percent == Approx(bound->attained_percent).epsilon(3e-5));
  RandomStream random(1, 1);
  for (int design = 0; design < 50; ++design) {
    Eigen::MatrixXd x(20, 3);
    for (Eigen::Index i = 0; i < x.rows(); ++i) {
      for (Eigen::Index f = 0; f < x.cols(); ++f) {
        const std::vector<double> settings =
            f == 0 ? std::vector<double>{-1, 0, 1} : doe::coded_settings(factors[f]);
        x(i, f) = settings[random.below(settings.size())];
      }
    }
    const doe::Evaluation evaluation = doe::evaluate(model, x);
    if (evaluation.d_efficiency) CHECK(*evaluation.d_efficiency < bound->efficiency_percent);
  }
}

TEST_CASE("Over constraints the limit is said to be unproven", "[doe][approximate]") {
  const std::vector<doe::Factor> factors = numbered_factors(2);
  const doe::Model model = doe::Model::named("linear", factors);
  // On the triangle x0 + x1 <= 0 its corners with equal frequencies are optimal (Kiefer &
  // Wolfowitz: every variance there is p): |M| = (2 area)^2 / 27 = 16 / 27.
  const auto bound = doe::d_bound(model, constrained(factors, "x0 + x1 <= 0"), kEnough_s);
  REQUIRE(bound);
  CHECK_FALSE(bound->proven);
  CHECK(bound->efficiency_percent == Approx(100 * std::cbrt(16.0 / 27)).epsilon(1e-4));
}

TEST_CASE("A model that no measure determines has no limit", "[doe][approximate]") {
  const doe::Model model = doe::Model::parse({"1", "n", "n^2"}, {whole("n", 1, 2)});
  CHECK_FALSE(doe::d_bound(model, {}, kEnough_s));
}

TEST_CASE("Best measures of a parabola for A and I have weights 1/4, 1/2, 1/4",
          "[doe][approximate]") {
  // Pukelsheim (1993), ch. 9. By hand, tr M^-1 = 8 and tr(M^-1 B) = 32/15 for that measure.
  const doe::Model model = doe::Model::named("quadratic", numbered_factors(1));
  const auto a = doe::linear_bound(model, {}, Eigen::Matrix3d::Identity(), kEnough_s);
  REQUIRE(a);
  CHECK(a->proven);
  CHECK(a->least <= 8);
  CHECK(a->least == Approx(8).epsilon(2e-3));
  const auto i = doe::linear_bound(model, {}, doe::moment_matrix(model, {}), kEnough_s);
  REQUIRE(i);
  CHECK(i->least <= 32.0 / 15);
  CHECK(i->least == Approx(32.0 / 15).epsilon(2e-3));
}

TEST_CASE("The best A and I designs known are above the limit, and not far", "[doe][approximate]") {
  // n tr (X'X)^-1 and n times the average variance of the best known designs: k = 2 with 12 runs, k
  // = 3 with 16.
  const double best_a[] = {12 * 1.5253, 16 * 1.9750};
  const double best_i[] = {12 * 0.30278, 16 * 0.34052};
  for (int k = 2; k <= 3; ++k) {
    const doe::Model model = doe::Model::named("quadratic", numbered_factors(k));
    const int p = model.column_count();
    const auto a = doe::linear_bound(model, {}, Eigen::MatrixXd::Identity(p, p), kEnough_s);
    const auto i = doe::linear_bound(model, {}, doe::moment_matrix(model, {}), kEnough_s);
    REQUIRE(a);
    REQUIRE(i);
    CHECK(a->least <= best_a[k - 2]);
    CHECK(a->least >= 0.85 * best_a[k - 2]);
    CHECK(i->least <= best_i[k - 2]);
    CHECK(i->least >= 0.85 * best_i[k - 2]);
  }
}
