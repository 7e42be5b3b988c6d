#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "base/random.h"
#include "surfaces/fit.h"
#include "surfaces/models/gaussian_process.h"
#include "surfaces/optimum/responses_together.h"
#include "tests/doe/factors.h"

using namespace doetune;
using namespace doetune::tests;
using surfaces::Prediction;
using surfaces::Transform;

TEST_CASE("Intervals are those of Student's t", "[surfaces][interval]") {
  // t quantile for 95 %, 10 degrees of freedom: 2.228138852 (any table).
  const Prediction prediction{100, 3, 4, 10};
  const surfaces::Interval mean = *prediction.confidence_interval(0.95);
  CHECK(mean.high - 100 == Approx(3 * 2.228138852).epsilon(1e-9));
  CHECK(100 - mean.low == Approx(3 * 2.228138852).epsilon(1e-9));
  const surfaces::Interval next = *prediction.prediction_interval(0.95);
  CHECK(next.high - 100 == Approx(5 * 2.228138852).epsilon(1e-9));
}

TEST_CASE("Tolerance intervals contain the stated fraction of runs", "[surfaces][interval]") {
  // Mean of ten runs: the exact two-sided 95 %/95 % factor is 3.379 (any table of the normal
  // distribution); Howe's approximation is within 0.2 %.
  const Prediction ten{0, 2 / std::sqrt(10.0), 2, 9};
  CHECK(ten.tolerance_interval(0.95, 0.95)->high / 2 == Approx(3.379).epsilon(2e-3));
  CHECK_FALSE(Prediction{0, 1, 1, 0}.tolerance_interval());
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  CHECK(Prediction{0, 0, 1, kInfinity}.tolerance_interval(0.95)->high == Approx(1.959964));
}

TEST_CASE("A surface's mean errors have its standard errors", "[surfaces][interval]") {
  const std::vector<doe::Factor> factors = unit_factors(2);
  Eigen::MatrixXd x(6, 2), at(3, 2);
  x << -1, -1, 1, -1, -1, 1, 1, 1, 0, 0, 0.5, 0;
  at << 0, 0, 1, 1, -0.3, 0.8;
  Eigen::VectorXd y(6);
  y << 1, 4, 2, 7, 3, 5;
  const surfaces::Fit fit =
      surfaces::fit_least_squares(doe::Model::named("interactions", factors), x, y);
  CHECK((fit.weights_of_runs * y - fit.beta).norm() < 1e-13);
  const surfaces::MeanErrors errors = fit.mean_errors(at);
  for (int i = 0; i < 3; ++i) {
    const Prediction prediction = fit.predict(at.row(i).transpose());
    CHECK(errors.of_runs.row(i).norm() == Approx(prediction.standard_error).epsilon(1e-12));
  }
}

TEST_CASE("Surfaces asked together answer as they do alone", "[surfaces]") {
  RandomStream random(3, 0);
  const auto uniform = [&](Eigen::Index rows) {
    return Eigen::MatrixXd::NullaryExpr(rows, 2, [&] { return 2 * random.uniform() - 1; }).eval();
  };
  const Eigen::MatrixXd x = uniform(30), at = uniform(50);
  const Eigen::VectorXd y = (2 + x.col(0).array() - x.col(1).array().square()).exp();
  const auto fit = [&](const char* model, Transform transform) {
    return surfaces::fit_least_squares(doe::Model::named(model, unit_factors(2)), x, y,
                                       {.transform = transform});
  };
  const surfaces::Fit line = fit("linear", Transform::kNone);
  const surfaces::Fit quadratic = fit("quadratic", Transform::kNone);
  const surfaces::Fit log = fit("quadratic", Transform::kLog);
  const surfaces::GaussianProcess process =
      surfaces::fit_gaussian_process(doe::Model::parse({"1"}, unit_factors(2)), x, y);
  const std::vector<const surfaces::Surface*> all{&quadratic, &line, nullptr, &process, &log};
  const std::vector<Eigen::VectorXd> together = surfaces::ResponsesTogether(all).at(at);
  REQUIRE(together.size() == all.size());
  for (std::size_t s = 0; s < all.size(); ++s) {
    CHECK(together[s] == (all[s] ? all[s]->responses(at) : Eigen::VectorXd()));
  }
}

TEST_CASE("The probability of an interval agrees with the prediction interval",
          "[surfaces][interval]") {
  for (const Transform transform :
       {Transform::kNone, Transform::kLog, Transform::kSqrt, Transform::kInverse, Transform::kLogit,
        Transform::power(0.3), Transform::power(-0.4)}) {
    const Prediction prediction{2, 0.03, 0.04, 7, transform};
    const surfaces::Interval next = *prediction.prediction_interval(0.9);
    CHECK(next.low < next.high);
    CHECK(*prediction.probability_within(next.low, next.high) == Approx(0.9).epsilon(1e-9));
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    CHECK(*prediction.probability_within(-kInfinity, kInfinity) == Approx(1));
    CHECK(*prediction.probability_within(prediction.response(), kInfinity) == Approx(0.5));
    CHECK(*prediction.probability_within(-kInfinity, next.low) == Approx(0.05).epsilon(1e-9));
  }
}

TEST_CASE("Transforms undo themselves", "[surfaces][transform]") {
  std::vector<std::string> names = surfaces::transform_names();
  for (const char* power : {"power(0.3)", "power(-0.5)", "power(1)", "power(1e-09)"}) {
    names.push_back(power);
  }
  for (const std::string& name : names) {
    const Transform transform = surfaces::transform_from_name(name);
    CHECK(surfaces::transform_name(transform) == name);
    for (const double y : {0.01, 0.5, 0.97, 1.0, 17.0, 1e6}) {
      if (transform == Transform::kLogit && y >= 1) continue;
      CHECK(surfaces::back_transformed(transform, surfaces::transformed(transform, y)) ==
            Approx(y).epsilon(1e-12));
      const double step = 1e-5 * y * (transform == Transform::kLogit ? 1 - y : 1);
      const double rise =
          surfaces::transformed(transform, y + step) - surfaces::transformed(transform, y - step);
      CHECK(surfaces::transform_slope(transform, y) == Approx(rise / (2 * step)).epsilon(1e-6));
    }
  }
  CHECK(surfaces::transform_from_name("power(0)") == Transform::kLog);
  CHECK(surfaces::transformed(Transform::power(0.5), 9) == Approx(4));  // (3 - 1) / 0.5
  CHECK(surfaces::transformed(Transform::kLogit, 0.75) == Approx(std::log(3)));
  CHECK_THROWS_WITH(surfaces::transform_from_name("lgo"), Catch::Contains("did you mean 'log'?"));
  CHECK_THROWS_WITH(surfaces::transform_from_name("power(x)"), Catch::Contains("'power(0.3)'"));
  CHECK_THROWS_WITH(surfaces::transformed(Transform::kLogit, 1.2),
                    Catch::Contains("fractions between 0 and 1"));
}

TEST_CASE("A transform's ends are the ends of the responses", "[surfaces][transform]") {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const Transform rising[] = {Transform::kSqrt, Transform::power(0.4)};
  for (const Transform& transform : rising) {
    CHECK(surfaces::back_transformed(transform, -10) == 0);
    // Half of the error is beyond the end, where the response is 0.
    const double end = surfaces::transformed_range(transform, 0.0, 0.0).second;
    const Prediction at_zero{end, 0, 1, 5, transform};
    CHECK(*at_zero.probability_within(0, kInfinity) == 1);
    CHECK(*at_zero.probability_within(-5, 0) == Approx(0.5));
    CHECK(*at_zero.probability_within(-5, -1) == 0);
  }
  const Transform bounded[] = {Transform::kInverse, Transform::power(-0.4)};
  for (const Transform& transform : bounded) {
    const double far = transform.is_decreasing() ? -10 : 10;
    CHECK(surfaces::back_transformed(transform, far) == kInfinity);
    CHECK(*Prediction{far, 0, 1, 5, transform}.probability_within(0, kInfinity) == 1);
    CHECK(*Prediction{far, 0, 1, 5, transform}.probability_within(0, 1e6) < 0.01);
  }
  for (const std::string name : {"log", "sqrt", "inverse", "logit", "power(0.4)", "power(-0.4)"}) {
    const Transform transform = surfaces::transform_from_name(name);
    INFO(name);
    CHECK_FALSE(surfaces::has_value(transform, -3));
    CHECK(surfaces::back_transformed(transform, surfaces::transformed_or_end(transform, -3)) == 0);
    CHECK(surfaces::transformed_or_end(transform, 0.3) == surfaces::transformed(transform, 0.3));
  }
  CHECK(surfaces::back_transformed(Transform::kLogit,
                                   surfaces::transformed_or_end(Transform::kLogit, 7)) == 1);
  CHECK(surfaces::transformed_or_end(Transform::kNone, -3) == -3);
  const Prediction of_logit{0, 0.5, 0.5, 8, Transform::kLogit};
  CHECK(of_logit.response() == 0.5);
  CHECK(*of_logit.probability_within(0, 1) == 1);
  CHECK(*of_logit.probability_within(0.5, 2) == Approx(0.5));
  CHECK(*of_logit.probability_within(1.5, 2) == 0);
}

TEST_CASE("Intervals cover at their nominal rate", "[surfaces][interval]") {
  // 2,000 simulated studies of a straight line: the number of covered means and next runs is
  // binomial; the tolerance is four standard deviations.
  const doe::Model model = doe::Model::named("linear", {continuous("a")});
  Eigen::VectorXd x(6);
  x << -1, -0.6, -0.2, 0.2, 0.6, 1;
  RandomStream random(11, 0);
  const auto normal = [&] {
    return std::sqrt(-2 * std::log(1 - random.uniform())) *
           std::cos(6.283185307179586 * random.uniform());
  };
  int mean_covered = 0, next_covered = 0;
  constexpr int kStudies = 2000;
  const Eigen::VectorXd at = Eigen::VectorXd::Constant(1, 0.5);
  for (int study = 0; study < kStudies; ++study) {
    Eigen::VectorXd y(6);
    for (int i = 0; i < 6; ++i) y[i] = 3 + 2 * x[i] + normal();
    const Prediction prediction = surfaces::fit_least_squares(model, x, y).predict(at);
    const auto mean = *prediction.confidence_interval(0.9);
    const auto next = *prediction.prediction_interval(0.9);
    const double truth = 4, run = truth + normal();
    mean_covered += truth >= mean.low && truth <= mean.high;
    next_covered += run >= next.low && run <= next.high;
  }
  const double tolerance = 4 * std::sqrt(kStudies * 0.9 * 0.1);
  CHECK(std::abs(mean_covered - 0.9 * kStudies) < tolerance);
  CHECK(std::abs(next_covered - 0.9 * kStudies) < tolerance);
}
