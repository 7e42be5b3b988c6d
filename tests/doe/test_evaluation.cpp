#include <catch2/catch.hpp>
#include <cmath>

#include "base/random.h"
#include "doe/design.h"
#include "doe/evaluation.h"
#include "tests/doe/factors.h"

using namespace doetune;
using namespace doetune::tests;

namespace {

Eigen::MatrixXd three_level_factorial() {
  Eigen::MatrixXd x(9, 2);
  for (int i = 0; i < 9; ++i) x.row(i) << i % 3 - 1, i / 3 - 1;
  return x;
}

}  // namespace

TEST_CASE("The 3^2 factorial has determinant 5184 for a quadratic", "[doe][evaluation]") {
  // Known D-optimal exact design for k = 2, n = 9: |X'X| = 5184, 46.2241 %.
  const doe::Model model = doe::Model::named("quadratic", {continuous("a"), continuous("b")});
  const doe::Evaluation evaluation = doe::evaluate(model, three_level_factorial());
  CHECK(std::exp(*evaluation.log_det) == Approx(5184).epsilon(1e-12));
  CHECK(*evaluation.d_efficiency == Approx(46.2241).epsilon(1e-6));
  CHECK(evaluation.aliases.empty());
}

TEST_CASE("An orthogonal two-level design is perfect for a linear model", "[doe][evaluation]") {
  // X'X = n I: D- and A-efficiency 100 %, every VIF 1, condition number 1.
  Eigen::MatrixXd x(4, 2);
  x << -1, -1, 1, -1, -1, 1, 1, 1;
  const doe::Evaluation evaluation =
      doe::evaluate(doe::Model::named("linear", {continuous("a"), continuous("b")}), x);
  CHECK(*evaluation.d_efficiency == Approx(100));
  CHECK(*evaluation.a_efficiency == Approx(100));
  CHECK(*evaluation.condition_number == Approx(1));
  REQUIRE(evaluation.vif.size() == 2);
  for (const auto& [term, vif] : evaluation.vif) CHECK(vif == Approx(1));
}

TEST_CASE("A design that cannot determine a term names it and has no efficiency",
          "[doe][evaluation]") {
  Eigen::MatrixXd x(4, 2);
  x << -1, -1, 1, -1, -1, 1, 1, 1;
  const doe::Evaluation evaluation =
      doe::evaluate(doe::Model::named("quadratic", {continuous("a"), continuous("b")}), x);
  CHECK(evaluation.aliases == std::vector<std::string>{"a^2", "b^2"});
  CHECK_FALSE(evaluation.d_efficiency);
  CHECK_FALSE(evaluation.log_det);
}

TEST_CASE("A supersaturated design names as many columns as it cannot determine",
          "[doe][evaluation]") {
  std::vector<doe::Factor> factors;
  for (int f = 0; f < 20; ++f) factors.push_back(continuous("x" + std::to_string(f)));
  RandomStream random(1, 2);
  const Eigen::MatrixXd x =
      Eigen::MatrixXd::NullaryExpr(200, 20, [&]() { return 2 * random.uniform() - 1; });
  const doe::Evaluation evaluation = doe::evaluate(doe::Model::named("quadratic", factors), x);
  CHECK(evaluation.terms == 231);
  CHECK(evaluation.aliases.size() == 31);
}

TEST_CASE("Repeated columns are named whatever their sign, beside independent ones",
          "[doe][evaluation]") {
  // The half fraction c = -a*b of 2^3: a = -b*c, b = -a*c, and every square is the mean.
  Eigen::MatrixXd x(4, 3);
  x << -1, -1, -1, 1, -1, 1, -1, 1, 1, 1, 1, -1;
  const doe::Model model = doe::Model::named("quadratic", unit_factors(3));
  const doe::Evaluation evaluation = doe::evaluate(model, x);
  CHECK(evaluation.aliases == std::vector<std::string>{"a*b", "a*c", "b*c", "a^2", "b^2", "c^2"});
  CHECK_FALSE(evaluation.d_efficiency);
}

TEST_CASE("Nearly dependent columns are not taken for dependent ones", "[doe][evaluation]") {
  // b = a + 1e-6 z with a, z orthogonal to the mean and each other: |X'X| = 4 * 4 * 4e-12.
  Eigen::MatrixXd x(4, 2);
  x << -1, -1 + 1e-6, 1, 1 - 1e-6, -1, -1 - 1e-6, 1, 1 + 1e-6;
  const doe::Evaluation evaluation = doe::evaluate(doe::Model::named("linear", unit_factors(2)), x);
  CHECK(evaluation.aliases.empty());
  CHECK(*evaluation.log_det == Approx(std::log(64e-12)).epsilon(1e-9));
}
