// Parametric models fitted on the scale of a transform of the response.
#include <Eigen/Dense>
#include <catch2/catch.hpp>
#include <cmath>

#include "surfaces/fit.h"
#include "surfaces/models/parametric_model.h"
#include "tests/surfaces/parametric_runs.h"
#include "tests/surfaces/random_normal.h"

using namespace doetune;
using namespace doetune::tests;
using surfaces::fit_parametric_model;
using surfaces::parametric_model_named;
using surfaces::ParametricFit;
using surfaces::Transform;

TEST_CASE("Saturation of inverse responses is a line in 1 / x", "[surfaces][parametric]") {
  // Theory: 1 / y = 1 / m + (h / m) / x (Lineweaver & Burk, 1934), least squares in closed form.
  const ParametricRuns runs(kConcentrations, kTreated);
  const ParametricFit parametric = runs.fit("saturation", Transform::kInverse);
  const std::vector<doe::Factor> factors{continuous("u", 1 / 1.1, 50)};
  const Eigen::MatrixXd coded =
      runs.x.unaryExpr([&](double x) { return factors[0].to_coded(1 / x); });
  const surfaces::Fit line = surfaces::fit_least_squares(
      doe::Model::named("linear", factors), coded, runs.y, {.transform = Transform::kInverse});
  const double at_0 = line.natural_coefficients[0].estimate;
  const double slope = line.natural_coefficients[1].estimate;
  CHECK(parametric.estimates[0].estimate == Approx(1 / at_0).epsilon(1e-7));
  CHECK(parametric.estimates[1].estimate == Approx(slope / at_0).epsilon(1e-7));
  // By the delta method: the error of 1 / b is that of b divided by b^2.
  CHECK(*parametric.estimates[0].std_error ==
        Approx(*line.natural_coefficients[0].std_error / (at_0 * at_0)).epsilon(1e-6));
  CHECK(*parametric.sigma == Approx(*line.sigma).epsilon(1e-9));
  CHECK(parametric.r2 == Approx(line.r2).epsilon(1e-9));
  REQUIRE(parametric.loo_residuals);
  CHECK(parametric.loo_residuals->squaredNorm() == Approx(*line.press).epsilon(1e-6));
  CHECK((parametric.residuals - line.residuals).norm() < 1e-9);
  CHECK((parametric.mean_errors(runs.coded).of_runs - line.mean_errors(coded).of_runs).norm() <
        1e-8);
  for (const double x : {0.05, 0.4, 1.0}) {
    const auto ours =
        parametric.predict(Eigen::VectorXd::Constant(1, parametric.factors[0].to_coded(x)));
    const auto theirs = line.predict(Eigen::VectorXd::Constant(1, factors[0].to_coded(1 / x)));
    CHECK(ours.response() == Approx(theirs.response()).epsilon(1e-7));
    CHECK(ours.confidence_interval()->low ==
          Approx(theirs.confidence_interval()->low).epsilon(1e-7));
    CHECK(ours.prediction_interval()->high ==
          Approx(theirs.prediction_interval()->high).epsilon(1e-7));
  }
}

TEST_CASE("On the scale of logarithms the unit does not matter", "[surfaces][parametric]") {
  // Theory: c y shifts ln y by ln c, so only the first parameter changes, in proportion.
  ParametricRuns runs(kConcentrations, kTreated);
  const ParametricFit fit = runs.fit("saturation", Transform::kLog);
  runs.y *= 5000;
  const ParametricFit other = runs.fit("saturation", Transform::kLog);
  CHECK(other.estimates[0].estimate == Approx(5000 * fit.estimates[0].estimate).epsilon(1e-7));
  CHECK(*other.estimates[0].std_error == Approx(5000 * *fit.estimates[0].std_error).epsilon(1e-6));
  CHECK(other.estimates[1].estimate == Approx(fit.estimates[1].estimate).epsilon(1e-7));
  CHECK(*other.estimates[1].std_error == Approx(*fit.estimates[1].std_error).epsilon(1e-6));
  CHECK(*other.sigma == Approx(*fit.sigma).epsilon(1e-9));
  CHECK(other.r2 == Approx(fit.r2).epsilon(1e-9));
}

TEST_CASE("A parametric model's errors under a transform are those of its derivatives there",
          "[surfaces][parametric]") {
  // The derivatives of T(model) by finite differences, and s^2 (J'J)^-1 from them.
  Eigen::VectorXd fractions = ParametricRuns(kConcentrations, kTreated).y / 250;
  const ParametricRuns runs(kConcentrations, {fractions.begin(), fractions.end()});
  for (const Transform& transform : kTransforms) {
    INFO(surfaces::transform_name(transform));
    const ParametricFit fit = runs.fit("saturation", transform);
    Eigen::MatrixXd jacobian(12, 2);
    for (Eigen::Index j = 0; j < 2; ++j) {
      const Eigen::VectorXd theta = fit.parameters.col(0);
      const Eigen::VectorXd step = 1e-6 * theta[j] * Eigen::VectorXd::Unit(2, j);
      for (Eigen::Index i = 0; i < 12; ++i) {
        const auto z = [&](const Eigen::VectorXd& at) {
          return surfaces::transformed(transform, fit.model.value(runs.x[i], at, nullptr));
        };
        jacobian(i, j) = (z(theta + step) - z(theta - step)) / (2 * step[j]);
      }
    }
    const Eigen::MatrixXd inverse = (jacobian.transpose() * jacobian).inverse();
    double rss = 0;
    for (Eigen::Index i = 0; i < 12; ++i) {
      const double fitted = fit.model.value(runs.x[i], fit.parameters.col(0), nullptr);
      rss += std::pow(
          surfaces::transformed(transform, runs.y[i]) - surfaces::transformed(transform, fitted),
          2);
    }
    CHECK(*fit.sigma == Approx(std::sqrt(rss / 10)).epsilon(1e-9));
    for (Eigen::Index j = 0; j < 2; ++j) {
      CHECK(*fit.estimates[j].std_error ==
            Approx(std::sqrt(rss / 10 * inverse(j, j))).epsilon(1e-6));
    }
  }
}

TEST_CASE("Errors of a parametric model on the logarithmic scale are those of a bootstrap",
          "[surfaces][parametric][long]") {
  ParametricRuns runs(kConcentrations, kTreated);
  const ParametricFit fit = runs.fit("saturation", Transform::kLog);
  constexpr int kTimes = 1000;
  Eigen::MatrixXd found(kTimes, 2);
  for (int time = 0; time < kTimes; ++time) {
    RandomStream random(33, time);
    for (Eigen::Index i = 0; i < 12; ++i) {
      runs.y[i] = std::exp(fit.fitted[i] + *fit.sigma * random_normal(random));
    }
    found.row(time) = runs.fit("saturation", Transform::kLog).parameters.col(0).transpose();
  }
  for (Eigen::Index j = 0; j < 2; ++j) {
    const Eigen::ArrayXd differences = found.col(j).array() - found.col(j).mean();
    const double spread = std::sqrt(differences.square().sum() / (kTimes - 1));
    // A bootstrap of 1000 has a standard error of 2.2 %; the rest is for the linearisation.
    CHECK(*fit.estimates[j].std_error == Approx(spread).epsilon(0.1));
  }
}

TEST_CASE("With errors in proportion, intervals of levels that differ a hundredfold cover",
          "[surfaces][parametric]") {
  const std::vector<doe::Factor> factors{continuous("x", 1, 32), words("w", {"a", "b", "c"})};
  const double m[] = {10, 100, 1000}, h[] = {2, 4, 8};
  constexpr int kTimes = 400;
  Eigen::MatrixXd coded(36, 2);
  Eigen::VectorXd y(36);
  Eigen::MatrixXd coverage = Eigen::MatrixXd::Zero(2, 3);
  double next_run = 0;
  for (int time = 0; time < kTimes; ++time) {
    RandomStream random(34, time);
    const auto run = [&](double x, int level) {
      return m[level] * x / (h[level] + x) * std::exp(0.08 * random_normal(random));
    };
    for (int i = 0; i < 36; ++i) {
      const double x = std::exp2(i / 3 % 6);
      coded.row(i) << factors[0].to_coded(x), i % 3;
      y[i] = run(x, i % 3);
    }
    const ParametricFit fit = fit_parametric_model(parametric_model_named("saturation"), factors,
                                                   "x", coded, y, "w", Transform::kLog);
    for (int level = 0; level < 3; ++level) {
      coverage(0, level) += covers(fit.estimates[2 * level], m[level]) ? 1.0 / kTimes : 0;
      coverage(1, level) += covers(fit.estimates[2 * level + 1], h[level]) ? 1.0 / kTimes : 0;
    }
    const auto next = fit.predict(coded.row(0).transpose()).prediction_interval();
    const double again = run(1, 0);
    next_run += next->low <= again && again <= next->high ? 1.0 / kTimes : 0;
  }
  // 0.95 within three binomial standard errors, 0.033, plus a margin for the linearisation.
  for (const double fraction : coverage.reshaped()) CHECK(fraction == Approx(0.95).margin(0.04));
  CHECK(next_run == Approx(0.95).margin(0.04));
}

TEST_CASE("Where a transform has no value for a parametric model the search steps back",
          "[surfaces][parametric]") {
  // Starting from the mean response and no slope, the first step makes the response at 1 negative.
  const ParametricFit line =
      runs_of("fixed-plus-linear", Eigen::Vector2d(-0.99, 1), {1, 2, 4, 8, 64})
          .fit("fixed-plus-linear", Transform::kLog);
  CHECK(line.estimates[0].estimate == Approx(-0.99).epsilon(1e-6));
  CHECK(line.estimates[1].estimate == Approx(1).epsilon(1e-6));

  // At x = 0 the line is negative: no logarithm, so the end of the range and no intervals.
  const Eigen::VectorXd zero = Eigen::VectorXd::Constant(1, line.factors[0].to_coded(0));
  CHECK(line.response(zero) == 0);
  CHECK(line.predict(zero).response() == 0);
  CHECK_FALSE(line.predict(zero).confidence_interval());
  CHECK(line.mean_errors(zero).of_runs.isZero(0));

  // Saturation is constant at 0, where the square root is infinitely steep.
  const ParametricFit root = runs_of("saturation", Eigen::Vector2d(900, 7), {0, 1, 4, 16})
                                 .fit("saturation", Transform::kSqrt);
  CHECK(root.estimates[1].estimate == Approx(7).epsilon(1e-6));
  CHECK(root.predict(Eigen::VectorXd::Constant(1, -1)).standard_error == 0);

  CHECK_THROWS_WITH(ParametricRuns({0, 1, 2}, {1, 2, 3}).fit("saturation", Transform::kLog),
                    Catch::Contains("no parameters of the model saturation") &&
                        Catch::Contains("'log' is defined at all runs"));
  CHECK_THROWS_WITH(ParametricRuns({1, 2, 3}, {1, -2, 3}).fit("saturation", Transform::kLog),
                    Catch::Contains("transform 'log' is not defined for a response of -2"));
}
