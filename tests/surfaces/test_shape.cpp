#include <Eigen/Dense>
#include <catch2/catch.hpp>
#include <cmath>

#include "base/random.h"
#include "surfaces/distributions.h"
#include "surfaces/shape.h"
#include "tests/doe/factors.h"
#include "tests/surfaces/published_rsm.h"

using namespace doetune;
using namespace doetune::tests;
using surfaces::Fit;
using surfaces::fit_least_squares;
using surfaces::PathPoint;

namespace {

Fit quadratic_fit(const PublishedStudy& study) {
  const auto factors = unit_factors(static_cast<int>(study.coded.cols()));
  return fit_least_squares(doe::Model::named("quadratic", factors), study.coded, study.y,
                           {.blocks = study.blocks});
}

/// A fit of random responses at random points.
Fit random_fit(int k, std::uint64_t seed) {
  RandomStream random(seed, 0);
  Eigen::MatrixXd x(30, k);
  for (double& value : x.reshaped()) value = 2 * random.uniform() - 1;
  Eigen::VectorXd y(30);
  for (double& value : y) value = surfaces::normal_draw(random.uniform());
  return fit_least_squares(doe::Model::named("quadratic", unit_factors(k)), x, y);
}

}  // namespace

TEST_CASE("The shapes of published studies are those that rsm prints", "[surfaces][shape]") {
  // Lenth (2009): the printed digits, in his order of the eigenvalues.
  const Fit reaction = quadratic_fit(chemical_reaction());
  CHECK(reaction.stationary_point->coded[0] == Approx(0.3722954).margin(5e-8));
  CHECK(reaction.stationary_point->coded[1] == Approx(0.3343802).margin(5e-8));
  CHECK(reaction.stationary_point->eigenvalues[1] == Approx(-0.9233027).margin(5e-8));
  CHECK(reaction.stationary_point->eigenvalues[0] == Approx(-1.3186949).margin(5e-8));
  CHECK(reaction.stationary_point->kind == "maximum");
  CHECK(reaction.lack_of_fit->p == Approx(0.6851).margin(5e-5));

  const Fit flight = quadratic_fit(helicopter());
  const Eigen::VectorXd& at = flight.stationary_point->coded;
  CHECK(at[0] == Approx(0.8607107).margin(5e-8));
  CHECK(at[1] == Approx(-0.3307115).margin(5e-8));
  CHECK(at[2] == Approx(-0.8394866).margin(5e-8));
  CHECK(at[3] == Approx(-0.1161465).margin(5e-8));
  CHECK(flight.stationary_point->eigenvalues[3] == Approx(3.258222).margin(5e-7));
  CHECK(flight.stationary_point->eigenvalues[0] == Approx(-4.651963).margin(5e-7));
  CHECK(flight.stationary_point->kind == "saddle");
}

TEST_CASE("A quadratic says what its fit predicts", "[surfaces][shape]") {
  doe::Factor word;
  word.name = "w";
  word.kind = doe::FactorKind::kCategorical;
  word.level_names = {"x", "y", "z"};
  std::vector<doe::Factor> factors = unit_factors(2);
  factors.push_back(word);
  RandomStream random(5, 0);
  Eigen::MatrixXd x(40, 3);
  Eigen::VectorXd y(40);
  for (int i = 0; i < 40; ++i) {
    x.row(i) << 2 * random.uniform() - 1, 2 * random.uniform() - 1, i % 3;
    y[i] = random.uniform();
  }
  const Fit fit = fit_least_squares(doe::Model::named("quadratic", factors), x, y);
  for (int i = 0; i < 40; ++i) {
    const Eigen::VectorXd at = x.row(i).transpose();
    const surfaces::Quadratic q = *surfaces::quadratic_of(fit, at);
    CHECK(q.value(at.head(2)) == Approx(fit.predict(at).mean));
  }
}

TEST_CASE("Certainty of a shape in one factor is Student's t of its square", "[surfaces][shape]") {
  // With one factor the eigenvalue is the coefficient of the square, and the posterior probability
  // of a maximum is P(b11 < 0) = P(T < -t).
  const Fit fit = random_fit(1, 11);
  const auto certainty = surfaces::shape_certainty(fit, 20000);
  REQUIRE(certainty);
  const surfaces::Coefficient& square = fit.coefficients[2];
  CHECK(certainty->eigenvalue_errors[0] == Approx(*square.std_error));
  const double expected = surfaces::t_probability(-*square.t, fit.df_residual);
  CHECK(certainty->maximum == Approx(expected).margin(0.015));
  CHECK(certainty->minimum == Approx(1 - expected).margin(0.015));
  CHECK(certainty->saddle == Approx(0).margin(1e-9));
}

TEST_CASE("Errors of eigenvalues are those of a fit in the canonical axes", "[surfaces][shape]") {
  // Bisgaard & Ankenman (1996): fit again with the axes turned into the eigenvectors; the standard
  // errors of the pure squares are those of the eigenvalues.
  const Fit fit = random_fit(3, 3);
  const auto certainty = surfaces::shape_certainty(fit);
  REQUIRE(certainty);
  const Eigen::MatrixXd turned = fit.coded * fit.stationary_point->eigenvectors;
  const Fit again = fit_least_squares(fit.model, turned, fit.observed);
  for (int e = 0; e < 3; ++e) {
    const surfaces::Coefficient& square =
        again.coefficients[static_cast<std::size_t>(again.model.column_count() - 3 + e)];
    CHECK(square.estimate == Approx(fit.stationary_point->eigenvalues[e]));
    CHECK(*square.std_error == Approx(certainty->eigenvalue_errors[e]));
  }
  CHECK(certainty->maximum + certainty->minimum + certainty->saddle == Approx(1));
}

TEST_CASE("No random point of a sphere beats the ridge path", "[surfaces][shape]") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Fit fit = random_fit(3, seed);
    const doe::Region region(fit.model.factors(), {}, {});
    const bool highest = seed % 2 == 0;
    const auto path = surfaces::ridge_path(fit, region, Eigen::VectorXd::Zero(3), highest);
    REQUIRE(path.size() >= 11);  // the sphere of radius 1 is inside the cube
    RandomStream random(seed, 1);
    for (const PathPoint& point : path) {
      CHECK(point.coded.norm() == Approx(point.distance).margin(1e-12));
      for (int i = 0; i < 200; ++i) {
        Eigen::VectorXd other(3);
        for (double& value : other) value = surfaces::normal_draw(random.uniform());
        const double mean = fit.predict(other * (point.distance / other.norm())).mean;
        const double gain = highest ? mean - point.prediction.mean : point.prediction.mean - mean;
        REQUIRE(gain <= 1e-9);
      }
    }
    CHECK(std::all_of(path.begin(), path.end() - 1, [](const auto& p) { return p.inside_region; }));
  }
}

TEST_CASE("The ridge of a plane is its gradient", "[surfaces][shape]") {
  // At every distance r the maximum is at r b / |b|, whatever the slopes.
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    RandomStream random(seed, 0);
    Eigen::MatrixXd x(6, 2);
    for (double& value : x.reshaped()) value = 2 * random.uniform() - 1;
    Eigen::VectorXd y(6);
    for (double& value : y) value = 1e-9 * surfaces::normal_draw(random.uniform());
    const Fit fit = fit_least_squares(doe::Model::named("linear", unit_factors(2)), x, y);
    const doe::Region region(fit.model.factors(), {}, {});
    const Eigen::Vector2d up = fit.beta.tail(2).normalized();
    for (const PathPoint& point : ridge_path(fit, region, Eigen::Vector2d::Zero(), true)) {
      CHECK((point.coded - point.distance * up).norm() < 1e-9);
    }
  }
}

TEST_CASE("A ridge path leaves a symmetric saddle along its rising axis", "[surfaces][shape]") {
  // y = a^2 - b^2: no gradient at the centre, so the multiplier alone does not give the direction.
  Eigen::MatrixXd x(9, 2);
  for (int i = 0; i < 9; ++i) x.row(i) << i % 3 - 1, i / 3 - 1;
  const Eigen::VectorXd y = x.col(0).array().square() - x.col(1).array().square();
  const Fit fit = fit_least_squares(doe::Model::named("quadratic", unit_factors(2)), x, y);
  const doe::Region region(fit.model.factors(), {}, {});
  const Eigen::VectorXd at = Eigen::VectorXd::Zero(2);
  for (const PathPoint& point : surfaces::ridge_path(fit, region, at, true)) {
    CHECK(point.prediction.mean == Approx(point.distance * point.distance).margin(1e-12));
  }
  for (const PathPoint& point : surfaces::ridge_path(fit, region, at, false)) {
    CHECK(point.prediction.mean == Approx(-point.distance * point.distance).margin(1e-12));
  }
  CHECK_FALSE(surfaces::steepest_path(fit, region, at, true));
}

TEST_CASE("The steepest path of a plane follows its slopes", "[surfaces][shape]") {
  // y = 10 + 3 a - 4 b + noise: along (0.75, -1); points beyond the cube are marked as outside.
  Eigen::MatrixXd x(8, 2);
  x << -1, -1, 1, -1, -1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0;
  Eigen::VectorXd y = (10 + 3 * x.col(0).array() - 4 * x.col(1).array()).matrix();
  const Eigen::VectorXd exact = y;
  y.tail(4) += Eigen::Vector4d(0.1, -0.1, 0.2, -0.2);
  const doe::Model plane = doe::Model::named("linear", unit_factors(2));
  const Fit fit = fit_least_squares(plane, x, y);
  const doe::Region region(fit.model.factors(), {}, {});
  const Eigen::VectorXd at = Eigen::VectorXd::Zero(2);
  const auto path = surfaces::steepest_path(fit, region, at, true);
  REQUIRE(path);
  CHECK(path->direction[0] == Approx(0.75));
  CHECK(path->direction[1] == Approx(-1));
  CHECK(path->points.back().coded[1] == Approx(-2));
  CHECK(path->points[5].inside_region);
  CHECK_FALSE(path->points[6].inside_region);
  CHECK(surfaces::steepest_path(fit, region, at, false)->direction[1] == Approx(1));
  // Two factors: the cone is an arc, sin^2 of half of it = s_b^2 F(0.95; 1, 5) / |b|^2.
  const double sine =
      *fit.coefficients[1].std_error * surfaces::t_quantile(0.95, 5) / std::hypot(3, 4);
  CHECK(*path->cone_fraction == Approx(std::asin(sine) / 3.14159265358979).epsilon(1e-9));
  CHECK_FALSE(
      surfaces::steepest_path(fit_least_squares(plane, x, exact), region, at, true)->cone_fraction);
}
