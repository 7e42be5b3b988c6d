// Tests of what is promised of settings that were chosen: limits, parametric models, and where the
// true optimum lies.
#include <catch2/catch.hpp>
#include <cmath>
#include <memory>

#include "base/random.h"
#include "surfaces/fit.h"
#include "surfaces/models/parametric_posterior.h"
#include "surfaces/models/shrunken_posterior.h"
#include "surfaces/optimum.h"
#include "surfaces/optimum/uncertainty.h"
#include "surfaces/selection/selection.h"
#include "tests/surfaces/parametric_runs.h"
#include "tests/surfaces/random_normal.h"

using namespace doetune;
using namespace doetune::tests;
using surfaces::Goal;
using surfaces::GoalType;
using surfaces::ParametricPosterior;
using surfaces::ShrunkenPosterior;

namespace {

/// Of two factors with `step`, so that all settings are enumerated.
std::vector<doe::Factor> stepped_factors(double step) {
  std::vector<doe::Factor> factors = unit_factors(2);
  for (doe::Factor& factor : factors) factor.step = step;
  return factors;
}

/// A face-centred design with five centre runs of a + 0.5 b + noise.
surfaces::Fit noisy_plane(double noise, std::uint64_t seed,
                          doe::SelectionMethod method = doe::SelectionMethod::kNone) {
  Eigen::MatrixXd coded(13, 2);
  coded << -1, -1, 1, -1, -1, 1, 1, 1, -1, 0, 1, 0, 0, -1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0;
  RandomStream random(53, seed);
  Eigen::VectorXd y(13);
  for (Eigen::Index i = 0; i < 13; ++i) {
    y[i] = coded(i, 0) + 0.5 * coded(i, 1) + noise * random_normal(random);
  }
  const doe::Model model = doe::Model::named("quadratic", unit_factors(2));
  if (method == doe::SelectionMethod::kNone) return surfaces::fit_least_squares(model, coded, y);
  return surfaces::select_model(model, coded, y, {.method = method}).fit;
}

surfaces::GoalResponse with_posterior(const char* name, const surfaces::Fit& fit,
                                      const Goal& goal) {
  const doe::Model all = doe::Model::named("quadratic", unit_factors(2));
  return {name, &fit, goal,
          std::make_shared<const ShrunkenPosterior>(*ShrunkenPosterior::of(fit, all))};
}

}  // namespace

TEST_CASE("The posterior of a model that is linear in its parameters is Student's t",
          "[surfaces][posterior][parametric]") {
  // Theory: with the prior 1 / s, and one that is uniform for a linear model.
  const ParametricRuns runs({1, 2, 3, 4, 6, 8, 10, 12},
                            {3.1, 4.8, 7.3, 8.7, 13.2, 16.6, 21.4, 24.5});
  const surfaces::ParametricFit fit = runs.fit("fixed-plus-linear");
  const auto posterior = ParametricPosterior::of(fit, runs.coded);
  REQUIRE(posterior);
  for (const double x : {-1.0, 0.3, 1.0}) {
    const Eigen::VectorXd at = Eigen::VectorXd::Constant(1, x);
    const surfaces::Prediction fitted = fit.predict(at), drawn = posterior->predict(at);
    CHECK(drawn.mean == Approx(fitted.mean).margin(0.1 * fitted.standard_error));
    CHECK(drawn.standard_error == Approx(fitted.standard_error).epsilon(0.08));
    CHECK(std::hypot(drawn.sigma, drawn.standard_error) ==
          Approx(std::hypot(fitted.sigma, fitted.standard_error)).epsilon(0.08));
    CHECK(drawn.df == fitted.df);
  }
}

TEST_CASE("A parameter at the end of its range is uncertain too",
          "[surfaces][posterior][parametric]") {
  // The response rises faster than x, so that all work is taken to run in parallel, p = 1.
  const ParametricRuns runs({1, 2, 4, 8, 16}, {1.0, 2.1, 4.1, 8.5, 17.0});
  const surfaces::ParametricFit fit = runs.fit("amdahl");
  REQUIRE(fit.estimates[1].at_bound);
  const auto posterior = ParametricPosterior::of(fit, runs.coded);
  REQUIRE(posterior);
  const Eigen::VectorXd last = Eigen::VectorXd::Ones(1);
  CHECK(posterior->predict(last).standard_error > 1.1 * fit.predict(last).standard_error);
}

TEST_CASE("The range of the true optimum knows of terms that a selection dropped",
          "[surfaces][optimum][uncertainty]") {
  // Half of the effect of b is smaller than the noise, so it is dropped in some studies; the true
  // optimum is at b = 1.
  int dropped = 0, holds = 0;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const surfaces::Fit fit = noisy_plane(1, seed, doe::SelectionMethod::kBackward);
    if (fit.model.terms().size() < 2) continue;  // no surface to optimise
    surfaces::OptimumRequest request{stepped_factors(0.1), {}, {}, {}};
    request.threads = 1;
    request.responses = {with_posterior("y", fit, {GoalType::kMaximize, -3, 3})};
    const surfaces::Optimum optimum = surfaces::find_optimum(request);
    const auto places = surfaces::optimum_uncertainty(request, optimum, 1'000).factors;
    CHECK_FALSE(places[1].anywhere);
    ++dropped;
    holds += places[1].settings.high > 0.99;
  }
  REQUIRE(dropped > 15);
  CHECK(holds >= 0.9 * dropped - 3 * std::sqrt(0.9 * 0.1 * dropped));
}
