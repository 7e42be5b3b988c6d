#include <Eigen/Dense>
#include <catch2/catch.hpp>
#include <cmath>
#include <memory>

#include "doe/design.h"
#include "doe/evaluation/moments.h"
#include "tests/doe/factors.h"

using namespace doetune;
using namespace doetune::tests;

namespace {

doe::Region constrained_region(const std::vector<doe::Factor>& factors, const std::string& text) {
  std::vector<std::string> names;
  for (const doe::Factor& factor : factors) names.push_back(factor.name);
  return doe::Region(factors, {std::make_shared<const doe::Expression>(text, names)}, {});
}

/// The mean of f f' by three-point Gauss-Legendre quadrature (exact to degree 5 per factor).
Eigen::MatrixXd quadrature_moments(const doe::Model& model) {
  const double node[] = {-std::sqrt(0.6), 0, std::sqrt(0.6)};
  const double weight[] = {5.0 / 18, 8.0 / 18, 5.0 / 18};
  const int k = static_cast<int>(model.factors().size());
  Eigen::MatrixXd moments = Eigen::MatrixXd::Zero(model.column_count(), model.column_count());
  for (int i = 0; i < std::pow(3, k); ++i) {
    Eigen::VectorXd x(k);
    double w = 1;
    for (int f = 0, rest = i; f < k; ++f, rest /= 3) {
      x[f] = node[rest % 3];
      w *= weight[rest % 3];
    }
    moments += w * model.row(x).transpose() * model.row(x);
  }
  return moments;
}

}  // namespace

TEST_CASE("Moments over the box equal Gauss-Legendre quadrature", "[doe][moments]") {
  for (const char* name : {"linear", "interactions", "quadratic"}) {
    const doe::Model model =
        doe::Model::named(name, {continuous("a"), continuous("b", 2, 5), continuous("c")});
    CHECK(doe::moment_matrix(model, {}).isApprox(quadrature_moments(model), 1e-13));
  }
}

TEST_CASE("The moments of one factor are 1/(power + 1)", "[doe][moments]") {
  const doe::Model model = doe::Model::parse({"1", "a", "a^2", "a^3"}, {continuous("a")});
  Eigen::Matrix4d expected;
  expected << 1, 0, 1.0 / 3, 0, 0, 1.0 / 3, 0, 1.0 / 5, 1.0 / 3, 0, 1.0 / 5, 0, 0, 1.0 / 5, 0,
      1.0 / 7;
  CHECK(doe::moment_matrix(model, {}).isApprox(expected, 1e-14));
}

TEST_CASE("Factors with settings count each setting once", "[doe][moments]") {
  const std::vector<doe::Factor> factors{whole("n", 1, 3), powers_of_two("b", {1, 2, 4, 16}),
                                         words("w", {"x", "y", "z"})};
  const doe::Model model = doe::Model::named("quadratic", factors);
  Eigen::MatrixXd expected = Eigen::MatrixXd::Zero(model.column_count(), model.column_count());
  for (const double n : {-1.0, 0.0, 1.0}) {
    for (const double b : {-1.0, -0.5, 0.0, 1.0}) {
      for (const double w : {0.0, 1.0, 2.0}) {
        const Eigen::RowVectorXd row = model.row(Eigen::Vector3d(n, b, w));
        expected += row.transpose() * row / 36;
      }
    }
  }
  CHECK(doe::moment_matrix(model, {}).isApprox(expected, 1e-13));
  const doe::Region never_excluding = constrained_region(factors, "n > 0");
  CHECK(doe::moment_matrix(model, never_excluding).isApprox(expected, 1e-13));
}

TEST_CASE("Moments over a triangle are close to their integrals", "[doe][moments]") {
  // Over x + y <= 0 in [-1, 1]^2: E x = -1/3, E x^2 = 1/3, E x y = 0, E x^4 = 1/5, and
  // E x^2 y = int int x^2 y / 2 = -1/15.
  const std::vector<doe::Factor> factors{continuous("x"), continuous("y")};
  const doe::Model model = doe::Model::named("quadratic", factors);  // 1 x y x*y x^2 y^2
  const Eigen::MatrixXd m = doe::moment_matrix(model, constrained_region(factors, "x + y <= 0"));
  CHECK(m(0, 0) == Approx(1));
  CHECK(m(0, 1) == Approx(-1.0 / 3).margin(1e-3));
  CHECK(m(0, 3) == Approx(0).margin(1e-3));
  CHECK(m(0, 4) == Approx(1.0 / 3).margin(1e-3));
  CHECK(m(4, 4) == Approx(1.0 / 5).margin(1e-3));
  CHECK(m(2, 4) == Approx(-1.0 / 15).margin(1e-3));
}

TEST_CASE("A sample of up to six factors gives entries within 0.002", "[doe][moments]") {
  for (const int k : {3, 6}) {
    std::vector<doe::Factor> factors;
    for (int f = 0; f < k; ++f) factors.push_back(continuous(std::string(1, char('a' + f))));
    const doe::Model model = doe::Model::named("quadratic", factors);
    const Eigen::MatrixXd sampled = doe::moment_matrix(model, constrained_region(factors, "a < 2"));
    CHECK((sampled - doe::moment_matrix(model, {})).cwiseAbs().maxCoeff() < 0.002);
  }
}

TEST_CASE("The average prediction variance is the trace against the moments", "[doe][moments]") {
  // 3^2 factorial, quadratic: compared with the mean of f' (X'X)^-1 f by quadrature.
  const doe::Model model = doe::Model::named("quadratic", {continuous("a"), continuous("b")});
  Eigen::MatrixXd points(9, 2);
  for (int i = 0; i < 9; ++i) points.row(i) << i % 3 - 1, i / 3 - 1;
  const Eigen::MatrixXd x = model.matrix(points);
  const Eigen::MatrixXd inverse = (x.transpose() * x).inverse();
  const double average = (inverse * doe::moment_matrix(model, {})).trace();
  CHECK(average == Approx((inverse * quadrature_moments(model)).trace()));
  CHECK(average > 0.42646);  // the best known nine-run design
}

TEST_CASE("A region without points says so", "[doe][moments]") {
  const std::vector<doe::Factor> factors{whole("n", 1, 3)};
  CHECK_THROWS_WITH(doe::moment_matrix(doe::Model::named("linear", factors),
                                       constrained_region(factors, "n > 9")),
                    Catch::Contains("exclude the whole region"));
}
