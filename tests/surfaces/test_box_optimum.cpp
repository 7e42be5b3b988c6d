#include <catch2/catch.hpp>
#include <cmath>

#include "base/random.h"
#include "surfaces/optimum/box_optimum.h"

using namespace doetune;
using surfaces::QuadraticForm;

namespace {

/// A quadratic with random coefficients, i.e. of arbitrary curvature in each direction.
QuadraticForm random_quadratic(Eigen::Index k, std::uint64_t seed) {
  RandomStream random(seed, 0);
  const auto draw = [&] { return 2 * random.uniform() - 1; };
  QuadraticForm q{draw(), Eigen::VectorXd(k), Eigen::MatrixXd(k, k)};
  for (double& b : q.linear) b = draw();
  for (Eigen::Index i = 0; i < k; ++i) {
    for (Eigen::Index j = 0; j <= i; ++j) q.second(i, j) = q.second(j, i) = draw();
  }
  return q;
}

}  // namespace

TEST_CASE("The highest point of a hill, a bowl and a saddle is found", "[surfaces][box]") {
  const Eigen::VectorXd low = Eigen::VectorXd::Constant(2, -1), high = -low;
  QuadraticForm q{5, Eigen::Vector2d(0.6, -1), Eigen::Matrix2d::Identity() * -1};
  surfaces::BoxOptimum top = surfaces::highest_in_box(q, low, high);
  CHECK(top.at[0] == Approx(0.3));  // 0.6 / 2
  CHECK(top.at[1] == Approx(-0.5));
  CHECK(top.value == Approx(5 + 0.09 + 0.25));
  top = surfaces::highest_in_box(surfaces::negated(q), low, high);
  CHECK(top.at == Eigen::Vector2d(-1, 1));
  q.second(0, 1) = q.second(1, 0) = 2;  // unbounded along c0 = c1
  top = surfaces::highest_in_box(q, low, high);
  CHECK(top.at == Eigen::Vector2d(-1, -1));
  CHECK(top.value == Approx(5 - 0.6 + 1 - 2 + 4));
}

TEST_CASE("A quadratic that is flat in some direction has its optimum on a face",
          "[surfaces][box]") {
  const Eigen::VectorXd low = Eigen::VectorXd::Constant(3, -1), high = -low;
  const Eigen::Vector3d along(1, 2, -1);
  const QuadraticForm ridge{0, along, -along * along.transpose()};
  // As a function of u = c0 + 2 c1 - c2 it is u - u^2, at most 1/4.
  CHECK(surfaces::highest_in_box(ridge, low, high).value == Approx(0.25));
  const QuadraticForm plane{1, along, Eigen::Matrix3d::Zero()};
  CHECK(surfaces::highest_in_box(plane, low, high).value == Approx(5));
  const QuadraticForm flat{2, Eigen::Vector3d::Zero(), Eigen::Matrix3d::Zero()};
  CHECK(surfaces::highest_in_box(flat, low, high).value == 2);
}

TEST_CASE("The exact optimum is never beaten by a million random points", "[surfaces][box]") {
  constexpr int kPoints = 50'000;  // for each of 20 quadratics
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto k = static_cast<Eigen::Index>(1 + seed % 8);
    const QuadraticForm q = random_quadratic(k, seed);
    const Eigen::VectorXd low = Eigen::VectorXd::Constant(k, -1);
    const surfaces::BoxOptimum top = surfaces::highest_in_box(q, low, -low);
    REQUIRE(q.value(top.at) == Approx(top.value).epsilon(1e-12));
    REQUIRE(top.at.cwiseAbs().maxCoeff() <= 1);
    RandomStream random(seed, 1);
    Eigen::MatrixXd points(k, kPoints);
    for (double& c : points.reshaped()) {
      // Half of the coordinates are at an end, where optima often lie.
      const double u = 4 * random.uniform() - 2;
      c = std::clamp(u, -1.0, 1.0);
    }
    const Eigen::RowVectorXd values =
        (points.cwiseProduct(q.second * points).colwise().sum() + q.linear.transpose() * points)
            .array() +
        q.constant;
    CHECK(values.maxCoeff() <= top.value + 1e-12);
  }
}

TEST_CASE("Too many factors for an exact optimum are refused", "[surfaces][box]") {
  const Eigen::VectorXd low = Eigen::VectorXd::Constant(13, -1);
  CHECK_THROWS_WITH(surfaces::highest_in_box(random_quadratic(13, 1), low, -low),
                    Catch::Contains("at most 12"));
}
