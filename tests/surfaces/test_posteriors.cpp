#include <Eigen/Dense>
#include <catch2/catch.hpp>
#include <cmath>
#include <numbers>
#include <numeric>
#include <vector>

#include "base/random.h"
#include "surfaces/distributions.h"
#include "surfaces/fit.h"
#include "surfaces/models/gaussian_process_posterior.h"
#include "surfaces/models/mixed_posterior.h"
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
}

TEST_CASE("A robust fit's posterior has its coefficients and their errors",
          "[surfaces][posterior]") {
  // Theory: least squares of the pseudo-values; with large effects nothing is shrunk.
  surfaces::FitOptions robust;
  robust.loss = surfaces::Loss::kHuber;
  const surfaces::Fit fit = study(1000, 3, robust, 8);
  const auto posterior = ShrunkenPosterior::of(fit, fit.model);
  REQUIRE(posterior);
  const Eigen::Vector2d at(0.5, 1);
  const surfaces::Prediction fitted = fit.predict(at), expected = posterior->predict(at);
  CHECK(expected.mean == Approx(fitted.mean).margin(0.1 * fitted.standard_error));
  CHECK(expected.standard_error == Approx(fitted.standard_error).epsilon(0.05));
  CHECK(expected.sigma == Approx(fitted.sigma * std::sqrt(104.0 / 98)).epsilon(0.05));
}

namespace {

/// Eight whole plots of four runs: a is constant in each, b and c form a 2^2 factorial in each;
/// 10 + `effect` (a - b), and errors of standard deviation 1 of whole plots and of runs.
struct SplitPlotStudy {
  doe::Model model = doe::Model::named("interactions", unit_factors(3));
  Eigen::MatrixXd coded{32, 3};
  surfaces::FitOptions options;
  surfaces::Fit fit;

  SplitPlotStudy(double effect, std::uint64_t seed) {
    RandomStream random(33, seed);
    Eigen::VectorXd y(32);
    for (int plot = 0; plot < 8; ++plot) {
      const double shared = normal(random);
      for (int i = 0; i < 4; ++i) {
        const int run = 4 * plot + i;
        coded.row(run) << (plot % 2 == 0 ? -1 : 1), i % 2 * 2 - 1, i / 2 * 2 - 1;
        y[run] = 10 + effect * (coded(run, 0) - coded(run, 1)) + shared + normal(random);
        options.whole_plots.push_back(plot);
      }
    }
    fit = surfaces::fit_least_squares(model, coded, y, options);
  }

  surfaces::Prediction expected(const Eigen::VectorXd& at) const {
    return ShrunkenPosterior::of(fit, model, options.whole_plots)->predict(at);
  }
};

bool holds(const surfaces::Interval& interval, double value) {
  return interval.low <= value && value <= interval.high;
}

}  // namespace

TEST_CASE("The posterior knows whole plots", "[surfaces][posterior][split-plot][long]") {
  // 200 studies: binomial standard error 1.5 %. At a point named beforehand, with large effects,
  // and at the best of the corners, where nothing matters.
  int named = 0, next = 0, chosen = 0, fitted = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const SplitPlotStudy large(100, seed), nothing(0, seed);
    const Eigen::Vector3d at(1, -1, 0);
    RandomStream random(34, seed);
    const surfaces::Prediction there = large.expected(at);
    named += holds(*there.confidence_interval(), 210);
    next += holds(*there.prediction_interval(), 210 + normal(random) + normal(random));
    Eigen::Index best = 0;
    nothing.fit.responses(nothing.coded).maxCoeff(&best);
    const Eigen::VectorXd corner = nothing.coded.row(best);
    chosen += holds(*nothing.expected(corner).confidence_interval(), 10);
    fitted += holds(*nothing.fit.predict(corner).confidence_interval(), 10);
  }
  CHECK(named / 200.0 == Approx(0.95).margin(0.05));
  CHECK(next / 200.0 == Approx(0.95).margin(0.05));
  CHECK(chosen / 200.0 > 0.95 - 4 * 0.015);
  CHECK(fitted / 200.0 < 0.87);
}

TEST_CASE("A Gaussian process does not know its parameters", "[surfaces][posterior][gp]") {
  const std::vector<doe::Factor> factors = unit_factors(1);
  const auto constant = doe::Model::parse({"1"}, factors);
  const Eigen::VectorXd grid = Eigen::VectorXd::LinSpaced(21, -1, 1);
  int fitted = 0, expected = 0;  // of 100 studies in which nothing matters
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    RandomStream random(35, seed);
    const Eigen::VectorXd coded = Eigen::VectorXd::LinSpaced(12, -1, 1);
    const Eigen::VectorXd y = coded.unaryExpr([&](double) { return 10 + normal(random); });
    const auto fit = surfaces::fit_gaussian_process(constant, coded, y, {.threads = 1});
    const surfaces::GaussianProcessPosterior posterior(fit, 1);
    Eigen::Index best = 0;
    fit.responses(grid).maxCoeff(&best);
    const Eigen::VectorXd at = grid.segment(best, 1);
    fitted += holds(*fit.predict(at).confidence_interval(), 10);
    expected += holds(*posterior.predict(at).confidence_interval(), 10);
  }
  CHECK(fitted < 90);
  CHECK(expected > 95 - 4 * 2.2);
}

TEST_CASE("Many runs determine the parameters of a Gaussian process", "[surfaces][posterior][gp]") {
  // Theory: the posterior then is the prediction with the estimated parameters.
  const Eigen::VectorXd coded = Eigen::VectorXd::LinSpaced(120, -1, 1);
  RandomStream random(36, 0);
  const Eigen::VectorXd y =
      coded.unaryExpr([&](double a) { return std::sin(4 * a) + 0.1 * normal(random); });
  const auto fit =
      surfaces::fit_gaussian_process(doe::Model::parse({"1"}, unit_factors(1)), coded, y);
  const surfaces::GaussianProcessPosterior posterior(fit);
  for (const double a : {-0.9, 0.0, 0.35}) {
    const Eigen::VectorXd at = Eigen::VectorXd::Constant(1, a);
    const surfaces::Prediction fitted = fit.predict(at), expected = posterior.predict(at);
    CHECK(expected.mean == Approx(fitted.mean).margin(0.5 * fitted.standard_error));
    CHECK(expected.standard_error == Approx(fitted.standard_error).epsilon(0.25));
    CHECK(expected.sigma == Approx(fitted.sigma).epsilon(0.1));
  }
  // Draws at the same point are the same, and the same at every call and with any threads.
  const Eigen::MatrixXd twice = Eigen::Vector2d(0.2, 0.2);
  const Eigen::MatrixXd draws = posterior.means(twice);
  CHECK((draws.col(0) - draws.col(1)).cwiseAbs().maxCoeff() < 1e-4 * fit.process_sigma);
  CHECK(draws == surfaces::GaussianProcessPosterior(fit, 1).means(twice));
}

namespace {

/// Seven runs of one factor.
struct FewRuns {
  std::vector<doe::Factor> factors = unit_factors(1);
  Eigen::MatrixXd coded = Eigen::VectorXd::LinSpaced(7, -1, 1);
  Eigen::VectorXd y = coded.unaryExpr([](double a) { return std::sin(3 * a) + a * a + 4; });
  doe::Model constant = doe::Model::parse({"1"}, factors);
  doe::Model quadratic = doe::Model::named("quadratic", factors);

  surfaces::GaussianProcess process() const {
    return surfaces::fit_gaussian_process(constant, coded, y);
  }
  surfaces::Fit fit() const { return surfaces::fit_least_squares(constant, coded, y); }
};

/// ln p(z) of z ~ N(constant, s^2 V) over the priors 1 of the constant and 1 / s^2.
double log_marginal(const Eigen::MatrixXd& v, const Eigen::VectorXd& z) {
  const Eigen::LLT<Eigen::MatrixXd> root(v);
  const Eigen::VectorXd ones = Eigen::VectorXd::Ones(z.size());
  const double precision = ones.dot(root.solve(ones));
  const Eigen::VectorXd rest = z - Eigen::VectorXd(ones * (ones.dot(root.solve(z)) / precision));
  const double half = static_cast<double>(z.size() - 1) / 2;
  return std::lgamma(half) - half * std::log(std::numbers::pi) -
         root.matrixLLT().diagonal().array().log().sum() - std::log(precision) / 2 -
         half * std::log(rest.dot(root.solve(rest)));
}

}  // namespace

TEST_CASE("Marginal likelihoods are integrals over the priors", "[surfaces][posterior]") {
  // Theory: by dense algebra, on grids of probabilities of the priors.
  const FewRuns few;
  const Eigen::MatrixXd identity = Eigen::MatrixXd::Identity(7, 7);
  const int points = 200;
  const auto probability = [&](int i) { return (i + 0.5) / points; };

  Eigen::MatrixXd x(7, 2);
  x << few.coded, few.coded.array().square().matrix();
  const Eigen::MatrixXd centred = x.rowwise() - x.colwise().mean();
  double sum = 0;
  for (int i = 0; i < points; ++i) {
    // f has the distribution function sqrt(f); v = (1 / f - 1) / mean(S^2).
    const double f = std::pow(probability(i), 2);
    const double variance = (1 / f - 1) / (centred.squaredNorm() / 2);
    sum += std::exp(log_marginal(identity + variance * x * x.transpose(), few.y));
  }
  const auto shrunken = ShrunkenPosterior::of(few.fit(), few.quadratic);
  REQUIRE(shrunken);
  CHECK(*shrunken->log_marginal_likelihood() == Approx(std::log(sum / points)).margin(0.02));

  sum = 0;
  for (int i = 0; i < points; ++i) {
    for (int j = 0; j < points; ++j) {
      const double length = 2 * std::exp(1.5 * surfaces::normal_draw(probability(i)));
      const double noise = 0.01 * std::exp(3 * surfaces::normal_draw(probability(j)));
      const surfaces::Correlation correlation(few.factors,
                                              Eigen::VectorXd::Constant(1, std::log(length)));
      const Eigen::MatrixXd v = correlation.matrix(few.coded) + (noise + 1e-9) * identity;
      sum += std::exp(log_marginal(v, few.y));
    }
  }
  // A mean of 512 ratios that differ little: a standard error of a few per cent.
  const surfaces::GaussianProcessPosterior process(few.process());
  CHECK(process.log_marginal_likelihood() == Approx(std::log(sum / points / points)).margin(0.15));
}

TEST_CASE("A mixture has draws of its parts as often as they are probable",
          "[surfaces][posterior]") {
  const FewRuns few;
  const auto first = std::make_shared<surfaces::GaussianProcessPosterior>(few.process());
  const auto second =
      std::make_shared<ShrunkenPosterior>(*ShrunkenPosterior::of(few.fit(), few.quadratic));
  const surfaces::MixedPosterior mixed(first, second, 0.25);
  Eigen::MatrixXd at(3, 1);
  at << 0.3, -0.8, 0.3;
  const Eigen::MatrixXd draws = mixed.means(at);
  const Eigen::MatrixXd of_first = first->means(at), of_second = second->means(at);
  REQUIRE(draws.rows() == surfaces::Posterior::kDraws);
  CHECK(draws == mixed.means(at));                                    // the same at every call
  CHECK((draws.col(0) - draws.col(2)).cwiseAbs().maxCoeff() < 1e-3);  // a draw is one surface
  // Every fourth is of the first, and no draw of a part comes twice.
  int others = 0;
  for (Eigen::Index i = 0; i < draws.rows(); ++i) {
    others += i % 4 == 1 ? draws.row(i) != of_first.row(i / 4)
                         : draws.row(i) != of_second.row(i - (i + 2) / 4);
  }
  CHECK(others == 0);

  const Eigen::VectorXd point = at.row(0);
  const auto same = [&](double probability, const surfaces::Posterior& part) {
    const surfaces::Prediction all = part.predict(point);
    const auto mix = surfaces::MixedPosterior(first, second, probability).predict(point);
    return mix.mean == Approx(all.mean) && mix.standard_error == Approx(all.standard_error) &&
           mix.sigma == Approx(all.sigma) && mix.df == all.df;
  };
  CHECK(same(1, *first));
  CHECK(same(0, *second));
}

TEST_CASE("Where no polynomial is near, the posterior is that of the process",
          "[surfaces][posterior][gp]") {
  const FewRuns few;
  const Eigen::VectorXd coded = Eigen::VectorXd::LinSpaced(30, -1, 1);
  RandomStream random(37, 0);
  const Eigen::VectorXd y =
      coded.unaryExpr([&](double a) { return std::exp(std::sin(4 * a) + 0.1 * normal(random)); });
  const auto logs = surfaces::Transform::kLog;
  const auto process = surfaces::fit_gaussian_process(few.constant, coded, y, {.transform = logs});
  const auto mixed = surfaces::posterior_with_polynomial(process, few.quadratic);
  const surfaces::GaussianProcessPosterior alone(process);
  for (const double a : {-0.9, 0.35}) {
    const Eigen::VectorXd at = Eigen::VectorXd::Constant(1, a);
    const surfaces::Prediction expected = mixed->predict(at), only = alone.predict(at);
    CHECK(expected.transform == logs);
    CHECK(expected.mean == Approx(only.mean));
    CHECK(expected.standard_error == Approx(only.standard_error));
  }
}

TEST_CASE("Few runs hold the truth of a quadratic that they do not determine",
          "[surfaces][posterior][long]") {
  // 100 studies of 12 runs of 4 factors, 15 coefficients: binomial standard error 2.2 %.
  const std::vector<doe::Factor> factors = unit_factors(4);
  const auto quadratic = doe::Model::named("quadratic", factors);
  const auto constant = doe::Model::parse({"1"}, factors);
  int alone = 0, expected = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    RandomStream random(38, seed);
    Eigen::VectorXd b(quadratic.column_count());
    for (double& value : b) value = normal(random);
    Eigen::MatrixXd coded(12, 4);
    for (int f = 0; f < 4; ++f) {  // a Latin hypercube
      std::vector<int> levels(12);
      std::iota(levels.begin(), levels.end(), 0);
      for (std::size_t i = 11; i > 0; --i) {
        const double chosen = static_cast<double>(i + 1) * random.uniform();
        std::swap(levels[i], levels[static_cast<std::size_t>(chosen)]);
      }
      for (int i = 0; i < 12; ++i) coded(i, f) = levels[i] / 5.5 - 1;
    }
    Eigen::VectorXd y = quadratic.matrix(coded) * b;
    for (double& value : y) value += 0.1 * normal(random);
    const auto process = surfaces::fit_gaussian_process(constant, coded, y, {.threads = 1});
    Eigen::Vector4d best = Eigen::Vector4d::Zero();
    for (int i = 0; i < 81; ++i) {
      const Eigen::Vector4d at(i % 3 - 1, i / 3 % 3 - 1, i / 9 % 3 - 1, i / 27 - 1);
      if (process.response(at) > process.response(best)) best = at;
    }
    const double truth = (quadratic.row(best) * b)[0];
    const surfaces::GaussianProcessPosterior posterior(process, 1);
    alone += holds(*posterior.predict(best).confidence_interval(), truth);
    const auto mixed = surfaces::posterior_with_polynomial(process, quadratic, 1);
    expected += holds(*mixed->predict(best).confidence_interval(), truth);
  }
  CHECK(alone < 85);
  CHECK(expected > 95 - 4 * 2.2);
}
