// Diagnostics compared with R 4.2: f <- lm(y ~ x + I(x^2)), packages car 3.1 and nortest 1.0.
#include <Eigen/Dense>
#include <catch2/catch.hpp>
#include <cmath>

#include "base/random.h"
#include "surfaces/diagnostics.h"
#include "surfaces/distributions.h"
#include "tests/doe/factors.h"
#include "tests/surfaces/published_fccd.h"

using namespace doetune;
using namespace doetune::tests;
using surfaces::Fit;
using surfaces::fit_least_squares;

namespace {

/// The seventh of twelve runs is an outlier.
Fit fit_with_outlier() {
  Eigen::MatrixXd x(12, 1);
  x << -1, -0.8, -0.6, -0.5, -0.2, 0, 0.1, 0.3, 0.5, 0.6, 0.8, 1;
  Eigen::VectorXd y(12);
  y << 1.2, 1.9, 2.4, 2.2, 3.9, 3.4, 9.0, 4.6, 4.4, 5.9, 5.2, 6.8;
  return fit_least_squares(doe::Model::named("quadratic", unit_factors(1)), x, y);
}

}  // namespace

TEST_CASE("The influence of runs is that of R", "[surfaces][diagnostics]") {
  const auto runs = surfaces::run_influences(fit_with_outlier());
  const surfaces::RunInfluence& seventh = runs[6];
  CHECK(seventh.leverage == Approx(0.184314125611).epsilon(1e-10));            // hatvalues(f)
  CHECK(*seventh.studentised == Approx(2.8613009730759).epsilon(1e-10));       // rstandard(f)
  CHECK(*seventh.deleted == Approx(8.9758341146137).epsilon(1e-10));           // rstudent(f)
  CHECK(*seventh.cooks_distance == Approx(0.616653937873924).epsilon(1e-10));  // cooks.distance(f)
  CHECK(*seventh.dffits == Approx(4.2667053956412).epsilon(1e-10));            // dffits(f)
  CHECK(*seventh.outlier_p == Approx(0.00022681).epsilon(1e-4));               // outlierTest(f)
  CHECK(*runs[11].dffits == Approx(0.7892279949200).epsilon(1e-10));
  for (const auto& run : runs) CHECK(run.outlier == (&run == &seventh));
  CHECK(runs[0].high_leverage);
  CHECK_FALSE(seventh.high_leverage);
}

TEST_CASE("A drift is the coefficient of the run order", "[surfaces][diagnostics]") {
  const Fit fit = fit_with_outlier();
  Eigen::VectorXd order(12);
  order << 3, 1, 2, 5, 4, 9, 7, 6, 8, 12, 10, 11;
  const auto drift = surfaces::drift_test(fit, order);  // summary(lm(y ~ x + I(x^2) + order))
  REQUIRE(drift);
  CHECK(drift->slope == Approx(0.00279085894468).epsilon(1e-10));
  CHECK(drift->std_error == Approx(0.318201017651).epsilon(1e-10));
  CHECK(drift->p == Approx(0.9932168233560).epsilon(1e-10));
  CHECK_FALSE(surfaces::drift_test(fit, fit.coded.col(0)));  // aliased with the factor
}

TEST_CASE("Assumptions are tested as in R", "[surfaces][diagnostics]") {
  const Fit fit = fit_with_outlier();
  const auto spread = surfaces::breusch_pagan_test(fit);  // car's ncvTest(f)
  REQUIRE(spread);
  CHECK(spread->statistic == Approx(0.983914301339).epsilon(1e-10));
  CHECK(spread->p > 0.1);  // ncvTest's 0.32 is of many runs
  CHECK(spread->p < 0.6);
  const auto normal = surfaces::normality_test(fit);  // nortest's ad.test(rstandard(f)), whose
  REQUIRE(normal);                                    // A is without the factor for small samples
  CHECK(normal->statistic / (1 + 0.75 / 12 + 2.25 / 144) ==
        Approx(0.979131490555853).epsilon(1e-10));
  CHECK(normal->p == Approx(0.0089855030048009).epsilon(1e-9));
}

TEST_CASE("Weighted residuals are tested, not those of single runs", "[surfaces][diagnostics]") {
  // R: f <- lm(y ~ x, weights = w), with the score test and the run order on sqrt(w) times columns
  // and residuals: an unweighted fit of the scaled columns must give the same.
  RandomStream random(4, 0);
  Eigen::VectorXd x(20), y(20), w(20), order(20);
  for (int i = 0; i < 20; ++i) {
    x[i] = 2 * random.uniform() - 1;
    w[i] = std::exp(2 * x[i]);
    y[i] = 5 + x[i] + surfaces::normal_draw(random.uniform()) / std::sqrt(w[i]);
    order[i] = (7 * i) % 20;
  }
  const doe::Model line = doe::Model::named("linear", unit_factors(1));
  const Fit fit = fit_least_squares(line, x, y, {.weights = w});
  const auto drift = surfaces::drift_test(fit, order);
  Eigen::MatrixXd design(20, 3);
  design << Eigen::VectorXd::Ones(20), x, order;
  const Eigen::MatrixXd scaled = w.cwiseSqrt().asDiagonal() * design;
  const Eigen::VectorXd b = scaled.householderQr().solve(w.cwiseSqrt().cwiseProduct(y));
  CHECK(drift->slope == Approx(b[2]));
  // The weights remove the trend of the scatter; without them the test detects it.
  CHECK(surfaces::breusch_pagan_test(fit)->p >
        surfaces::breusch_pagan_test(fit_least_squares(line, x, y))->p);
}

TEST_CASE("Tests of assumptions reject at their nominal rate", "[surfaces][diagnostics][long]") {
  // 600 fits with normal errors of constant variance and without drift: each test rejects about 5
  // %.
  int normality = 0, spread = 0, drift = 0, outliers = 0;
  Eigen::MatrixXd x(30, 2);
  for (int i = 0; i < 30; ++i) x.row(i) << i % 5 / 2.0 - 1, i / 5 / 2.5 - 1;
  const doe::Model model = doe::Model::named("quadratic", unit_factors(2));
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    RandomStream random(seed, 0);
    Eigen::VectorXd y(30), order(30);
    for (double& value : y) value = surfaces::normal_draw(random.uniform());
    const std::vector<int> positions = random_permutation(30, random);
    for (int i = 0; i < 30; ++i) order[i] = positions[static_cast<std::size_t>(i)];
    y += 3 * x.col(0);
    const Fit fit = fit_least_squares(model, x, y);
    normality += surfaces::normality_test(fit)->p < 0.05;
    spread += surfaces::breusch_pagan_test(fit)->p < 0.05;
    drift += surfaces::drift_test(fit, order)->p < 0.05;
    const auto runs = surfaces::run_influences(fit);
    outliers += std::any_of(runs.begin(), runs.end(), [](const auto& run) { return run.outlier; });
  }
  for (const int rejected : {normality, spread, drift, outliers}) {
    CHECK(rejected > 12);
    CHECK(rejected < 50);
  }
}

TEST_CASE("The test of spread keeps its rate with few degrees of freedom",
          "[surfaces][diagnostics][long]") {
  // Runs spread at random, a quadratic with five degrees of freedom: leverages differ.
  constexpr int kFits = 600;
  const doe::Model model = doe::Model::named("quadratic", unit_factors(3));
  int rejected = 0;
  for (std::uint64_t seed = 0; seed < kFits; ++seed) {
    RandomStream random(seed, 1);
    Eigen::MatrixXd x(15, 3);
    Eigen::VectorXd y(15);
    for (double& setting : x.reshaped()) setting = 2 * random.uniform() - 1;
    for (double& value : y) value = surfaces::normal_draw(random.uniform());
    y += 3 * x.col(0);
    rejected += surfaces::breusch_pagan_test(fit_least_squares(model, x, y))->p < 0.05;
  }
  // 5 % with four standard errors.
  CHECK(std::abs(rejected - kFits * 0.05) < 4 * std::sqrt(kFits * 0.05 * 0.95));
}

TEST_CASE("What residuals cannot say is left empty", "[surfaces][diagnostics]") {
  const doe::Model line = doe::Model::named("linear", unit_factors(1));
  const Fit saturated = fit_least_squares(line, Eigen::Vector2d(-1, 1), Eigen::Vector2d(1, 2));
  CHECK_FALSE(surfaces::run_influences(saturated)[0].studentised);
  CHECK_FALSE(surfaces::normality_test(saturated));
  CHECK_FALSE(surfaces::breusch_pagan_test(saturated));
  CHECK_FALSE(surfaces::drift_test(saturated, Eigen::Vector2d(1, 2)));
  const Fit exact =
      fit_least_squares(line, Eigen::Vector4d(-1, 0, 0, 1), Eigen::Vector4d(1, 2, 2, 3));
  CHECK_FALSE(surfaces::run_influences(exact)[0].cooks_distance);
  // The last of these runs alone determines the slope.
  const Fit lever =
      fit_least_squares(line, Eigen::Vector4d(0, 0, 0, 1), Eigen::Vector4d(1, 2, 1.5, 9));
  CHECK(surfaces::run_influences(lever)[3].high_leverage);
  CHECK_FALSE(surfaces::run_influences(lever)[3].deleted);
  CHECK(surfaces::run_influences(lever)[0].deleted);
}

TEST_CASE("As many coefficients as degrees of freedom leave Cook's distances whole",
          "[surfaces][diagnostics]") {
  // The median of F(10, 10) is 1; Boost 1.74 cannot invert F there.
  const Fit fit = fit_least_squares(doe::Model::named("quadratic", published_factors()),
                                    published_points(), published_response(3));
  REQUIRE(fit.df_residual == 10);
  for (const auto& run : surfaces::run_influences(fit)) {
    CHECK(run.influential == (*run.cooks_distance > 1));
  }
}
