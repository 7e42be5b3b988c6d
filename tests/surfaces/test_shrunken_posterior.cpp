#include <catch2/catch.hpp>
#include <cmath>

#include "base/random.h"
#include "surfaces/distributions.h"
#include "surfaces/fit.h"
#include "surfaces/models/shrunken_posterior.h"
#include "tests/doe/factors.h"

using namespace doetune;
using namespace doetune::tests;
using surfaces::ShrunkenPosterior;

namespace {

double normal(RandomStream& random) { return surfaces::normal_draw(random.uniform()); }

/// A face-centred design of two factors with five centre runs.
Eigen::MatrixXd fccd() {
  Eigen::MatrixXd coded(13, 2);
  coded << -1, -1, 1, -1, -1, 1, 1, 1, -1, 0, 1, 0, 0, -1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0;
  return coded;
}

/// `effect` (a + b - a^2) + 10 + noise of standard deviation 1, the design run `times` times.
surfaces::Fit study(double effect, std::uint64_t seed, const surfaces::FitOptions& options = {},
                    int times = 1) {
  const Eigen::MatrixXd coded = fccd().replicate(times, 1);
  RandomStream random(31, seed);
  Eigen::VectorXd y(coded.rows());
  for (Eigen::Index i = 0; i < y.size(); ++i) {
    const double a = coded(i, 0), b = coded(i, 1);
    y[i] = 10 + effect * (a + b - a * a) + normal(random);
  }
  return surfaces::fit_least_squares(doe::Model::named("quadratic", unit_factors(2)), coded, y,
                                     options);
}

}  // namespace

TEST_CASE("Large effects are not shrunk: the intervals are Student's", "[surfaces][posterior]") {
  // Theory: with a flat prior of the coefficients the posterior is Student's t about the fit. That
  // of their common variance costs width with few runs, and nothing with 104.
  const surfaces::Fit fit = study(1000, 1, {}, 8);
  const auto posterior = ShrunkenPosterior::of(fit, fit.model);
  REQUIRE(posterior);
  for (const Eigen::Vector2d& at : {Eigen::Vector2d(0.5, 1), Eigen::Vector2d(0, 0)}) {
    const surfaces::Prediction fitted = fit.predict(at), expected = posterior->predict(at);
    CHECK(expected.mean == Approx(fitted.mean).margin(0.1 * fitted.standard_error));
    CHECK(expected.standard_error == Approx(fitted.standard_error).epsilon(0.05));
    CHECK(expected.sigma == Approx(fitted.sigma).epsilon(0.05));
    CHECK(expected.df == fitted.df);
  }
}

TEST_CASE("Where nothing matters, the surface is shrunk to its mean", "[surfaces][posterior]") {
  const surfaces::Fit fit = study(0, 2);
  const auto posterior = ShrunkenPosterior::of(fit, fit.model);
  REQUIRE(posterior);
  const double mean = fit.observed.mean();
  for (const Eigen::Vector2d& at : {Eigen::Vector2d(1, 1), Eigen::Vector2d(-1, 1)}) {
    const double fitted = fit.predict(at).mean, expected = posterior->predict(at).mean;
    CHECK(std::abs(expected - mean) < 0.6 * std::abs(fitted - mean));
  }
}

TEST_CASE("Intervals hold the truth at the settings that look best", "[surfaces][posterior]") {
  // 300 studies in which nothing matters: binomial standard error 1.3 %.
  int fitted = 0, expected = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const surfaces::Fit fit = study(0, 100 + seed);
    Eigen::Vector2d best(0, 0);
    for (double a = -1; a <= 1; a += 0.25) {
      for (double b = -1; b <= 1; b += 0.25) {
        if (fit.response(Eigen::Vector2d(a, b)) > fit.response(best)) best << a, b;
      }
    }
    const auto holds = [](const surfaces::Prediction& prediction) {
      const auto interval = *prediction.confidence_interval();
      return interval.low <= 10 && 10 <= interval.high;
    };
    fitted += holds(fit.predict(best));
    expected += holds(ShrunkenPosterior::of(fit, fit.model)->predict(best));
  }
  CHECK(fitted / 300.0 < 0.9);
  CHECK(expected / 300.0 > 0.95 - 4 * 0.013);
}

TEST_CASE("The posterior needs no determined model, and knows blocks and weights",
          "[surfaces][posterior]") {
  const surfaces::Fit fit = study(2, 3);
  // A cubic has more terms than these runs determine.
  const auto cubic = ShrunkenPosterior::of(fit, doe::Model::named("cubic", unit_factors(2)));
  REQUIRE(cubic);
  CHECK(std::isfinite(cubic->predict(Eigen::Vector2d(1, 1)).mean));
  CHECK(cubic->predict(Eigen::Vector2d(1, 1)).standard_error > 0);
  // The same draws at every call, one at a time or together.
  const Eigen::MatrixXd all = cubic->means(fccd());
  CHECK(all.rows() == ShrunkenPosterior::kDraws);
  CHECK(all.col(3) == cubic->means(fccd()).col(3));

  // A block effect is not part of the surface: the average block is predicted.
  surfaces::FitOptions blocks;
  for (int i = 0; i < 13; ++i) blocks.blocks.push_back(1 + i % 2);
  const surfaces::Fit blocked = study(50, 4, blocks);
  const Eigen::Vector2d at(0.5, 0.5);
  CHECK(ShrunkenPosterior::of(blocked, blocked.model)->predict(at).mean ==
        Approx(blocked.predict(at).mean).margin(0.3));

  // Weights of 4 halve the errors' standard deviation of runs of weight 1.
  surfaces::FitOptions weights;
  weights.weights = Eigen::VectorXd::Constant(13, 4);
  const surfaces::Fit weighted = study(50, 4, weights), plain = study(50, 4);
  const surfaces::Prediction heavy = ShrunkenPosterior::of(weighted, weighted.model)->predict(at);
  const surfaces::Prediction light = ShrunkenPosterior::of(plain, plain.model)->predict(at);
  CHECK(heavy.mean == Approx(light.mean).epsilon(1e-6));
  CHECK(heavy.standard_error == Approx(light.standard_error).epsilon(1e-6));
  CHECK(heavy.sigma == Approx(2 * light.sigma).epsilon(0.05));

  surfaces::FitOptions robust;
  robust.loss = surfaces::Loss::kHuber;
  const surfaces::Fit huber = study(2, 3, robust);
  CHECK_FALSE(ShrunkenPosterior::of(huber, huber.model));
}
