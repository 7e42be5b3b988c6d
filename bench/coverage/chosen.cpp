// Simulated studies: how often the intervals hold the truth at the settings that a fit chose.
//
//   bench_chosen [STUDIES [KIND]]
//
// Kinds of studies: `none`, `backward` (selection of terms), `auto` (of surfaces), `whole-plots`,
// `huber`, `gaussian-process`, `parametric` (universal scalability), and with three runs fewer than
// the quadratic has coefficients `few-runs`, `few-runs-waves` and, without a Gaussian process,
// `few-runs-polynomial`. The truth is a quadratic whose coefficients are normal, or for
// `gaussian-process` and `few-runs-waves` a sum of random waves, or the parametric model; noise is
// in proportion to its standard deviation over the region. The settings are those of a grid with
// the highest fitted value. "Fitted" are Student's intervals about the fitted value, which hold
// 95 % at settings that were named beforehand; "posterior" are those that doetune prints.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <numbers>
#include <string>

#include "base/random.h"
#include "doe/design.h"
#include "surfaces/distributions.h"
#include "surfaces/fit.h"
#include "surfaces/models/choose_surface.h"
#include "surfaces/models/gaussian_process.h"
#include "surfaces/models/gaussian_process_posterior.h"
#include "surfaces/models/mixed_posterior.h"
#include "surfaces/models/parametric_posterior.h"
#include "surfaces/models/shrunken_posterior.h"
#include "surfaces/optimum/confirmation.h"
#include "surfaces/quantiles.h"
#include "surfaces/selection/selection.h"

using namespace doetune;

namespace {

constexpr const char* kFewRuns = "few-runs";
constexpr const char* kFewRunsWaves = "few-runs-waves";
constexpr double kNothing = std::numeric_limits<double>::infinity();

struct Case {
  std::string kind;
  int factors = 3;
  double noise = 0;  ///< infinite: nothing matters
};

struct Rates {
  double mean = 0, next = 0, five = 0, gain = 0, width = 0;
};

struct Tally {
  Rates fitted, posterior;
  double value = 0;  ///< of the truth, in its standard deviations over the region
};

/// What the studies of a case have in common.
struct Setting {
  doe::Model model;
  Eigen::MatrixXd runs, grid;
  std::vector<int> whole_plots;
};

using Truth = std::function<double(const Eigen::VectorXd&)>;

struct Study {
  Truth truth;
  double sigma = 0;                ///< of a run in its whole plot
  double next_sigma = 0;           ///< of a run in a new one
  double mean = 0, deviation = 0;  ///< of the truth over the region
  Eigen::VectorXd y;
};

struct Fitted {
  std::shared_ptr<const surfaces::Surface> surface;
  std::shared_ptr<const surfaces::Posterior> posterior;
};

std::vector<doe::Factor> factors_of(int k) {
  std::vector<doe::Factor> factors(static_cast<std::size_t>(k));
  for (int f = 0; f < k; ++f) {
    factors[f].name = std::string(1, static_cast<char>('a' + f));
    factors[f].low = -1;
    factors[f].high = 1;
  }
  return factors;
}

Eigen::MatrixXd grid_of(int k) {
  const int levels = k == 1 ? 61 : k <= 3 ? 7 : k <= 5 ? 3 : 2;
  const auto points = static_cast<Eigen::Index>(std::lround(std::pow(levels, k)));
  Eigen::MatrixXd grid(points, k);
  for (Eigen::Index i = 0; i < points; ++i) {
    Eigen::Index rest = i;
    for (int f = 0; f < k; ++f) {
      grid(i, f) = 2.0 * static_cast<double>(rest % levels) / (levels - 1) - 1;
      rest /= levels;
    }
  }
  return grid;
}

/// 1, 2, 4, 8, 16 and 32 of a factor, each twice.
Setting setting_of_parametric() {
  std::vector<doe::Factor> factors = factors_of(1);
  factors[0].low = 1;
  factors[0].high = 32;
  factors[0].scale = doe::Scale::kLog2;
  Eigen::MatrixXd runs(12, 1);
  for (int i = 0; i < 12; ++i) runs(i, 0) = -1 + 2.0 * (i / 2) / 5;
  return {doe::Model::named("quadratic", factors), runs, grid_of(1), {}};
}

/// Face-centred with five centre runs; 24 runs in 8 whole plots; a Latin hypercube of 10 runs a
/// factor, or of too few runs for the quadratic.
Setting setting_of(const Case& of) {
  if (of.kind == "parametric") return setting_of_parametric();
  doe::DesignRequest request;
  request.factors = factors_of(of.factors);
  request.model = doe::Model::named("quadratic", request.factors);
  request.options.center_runs = 5;
  std::string type = "fccd";
  if (of.kind == "whole-plots") {
    request.factors[0].hard_to_change = true;
    request.options.runs = 24;
    request.options.whole_plots = 8;
    request.options.center_runs = 0;
    type = "d-optimal";
  } else if (of.kind == "huber") {
    request.options.replicates = 2;
  } else if (of.kind == "gaussian-process" || of.kind.starts_with(kFewRuns)) {
    const bool few = of.kind.starts_with(kFewRuns);
    request.options.runs = few ? request.model.column_count() - 3 : 10 * of.factors;
    request.options.center_runs = 0;
    type = "space-filling";
  }
  const doe::Design design = doe::build_design(type, request);
  Setting setting{request.model, design.coded(), grid_of(of.factors), {}};
  if (of.kind == "whole-plots") {
    for (const doe::DesignPoint& point : design.points) {
      setting.whole_plots.push_back(point.whole_plot);
    }
  }
  return setting;
}

Truth quadratic(const doe::Model& model, bool nothing, RandomStream& random) {
  Eigen::VectorXd b(model.column_count());
  for (double& value : b) value = nothing ? 0 : surfaces::normal_draw(random.uniform());
  return [&model, b](const Eigen::VectorXd& coded) { return (model.row(coded) * b)[0]; };
}

/// A sum of 200 waves: nearly a Gaussian process with squared exponential correlation, whose length
/// scales lie between 0.7 and 3 where the range of a factor is 2.
Truth waves(int factors, bool nothing, RandomStream& random) {
  constexpr int kWaves = 200;
  Eigen::MatrixXd frequencies(kWaves, factors);
  Eigen::VectorXd phases(kWaves);
  for (int f = 0; f < factors; ++f) {
    const double length = 0.7 * std::pow(3 / 0.7, random.uniform());
    for (int i = 0; i < kWaves; ++i) {
      frequencies(i, f) = surfaces::normal_draw(random.uniform()) / length;
    }
  }
  for (double& phase : phases) phase = 2 * std::numbers::pi * random.uniform();
  const double height = nothing ? 0 : std::sqrt(2.0 / kWaves);
  return [=](const Eigen::VectorXd& coded) {
    return height * (frequencies * coded + phases).array().cos().sum();
  };
}

/// Universal scalability with a contention of up to 0.2 and a peak between 4 and 64.
Truth scalability(const Setting& setting, RandomStream& random) {
  const double a = 0.2 * random.uniform(), peak = 4 * std::pow(16, random.uniform());
  const double b = (1 - a) / (peak * peak);
  const doe::Factor factor = setting.model.factors().front();
  return [=](const Eigen::VectorXd& coded) {
    const double x = factor.to_natural(coded[0]);
    return x / (1 + a * (x - 1) + b * x * (x - 1));
  };
}

Truth truth_of(const Case& of, const Setting& setting, RandomStream& random) {
  const bool nothing = std::isinf(of.noise);
  const bool waves_are_true = of.kind == "gaussian-process" || of.kind == kFewRunsWaves;
  if (waves_are_true) return waves(of.factors, nothing, random);
  if (of.kind == "parametric") return scalability(setting, random);
  return quadratic(setting.model, nothing, random);
}

Study study_of(const Case& of, const Setting& setting, RandomStream& random) {
  Study study;
  const bool nothing = std::isinf(of.noise);
  study.truth = truth_of(of, setting, random);
  Eigen::ArrayXd over_grid(setting.grid.rows());
  for (Eigen::Index i = 0; i < over_grid.size(); ++i) {
    over_grid[i] = study.truth(setting.grid.row(i).transpose());
  }
  study.mean = over_grid.mean();
  study.deviation = nothing ? 1 : std::sqrt((over_grid - study.mean).square().mean());
  study.sigma = nothing ? 1 : of.noise * study.deviation;
  study.next_sigma = study.sigma;
  study.y.resize(setting.runs.rows());
  for (Eigen::Index i = 0; i < study.y.size(); ++i) {
    study.y[i] = study.truth(setting.runs.row(i).transpose()) +
                 study.sigma * surfaces::normal_draw(random.uniform());
    if (of.kind == "huber" && random.uniform() < 0.05) study.y[i] += 8 * study.sigma;
  }
  if (of.kind == "whole-plots") {  // as large an error as that of the runs
    std::map<int, double> errors;
    for (std::size_t i = 0; i < setting.whole_plots.size(); ++i) {
      const int plot = setting.whole_plots[i];
      if (!errors.contains(plot)) errors[plot] = surfaces::normal_draw(random.uniform());
      study.y[static_cast<Eigen::Index>(i)] += study.sigma * errors[plot];
    }
    study.next_sigma = std::sqrt(2.0) * study.sigma;
  }
  return study;
}

Fitted fitted(const Case& of, const Setting& setting, const Eigen::VectorXd& y) {
  if (of.kind == "gaussian-process") {
    const auto constant = doe::Model::parse({"1"}, setting.model.factors());
    auto process = std::make_shared<surfaces::GaussianProcess>(surfaces::fit_gaussian_process(
        constant, setting.runs, y, {.with_nugget = true, .threads = 1}));
    return {process, std::make_shared<surfaces::GaussianProcessPosterior>(*process, 1)};
  }
  if (of.kind == "parametric") {
    const auto fit = std::make_shared<surfaces::ParametricFit>(
        surfaces::fit_parametric_model(surfaces::parametric_model_named("universal-scalability"),
                                       setting.model.factors(), "a", setting.runs, y));
    return {fit, std::make_shared<surfaces::ParametricPosterior>(
                     *surfaces::ParametricPosterior::of(*fit, setting.runs))};
  }
  surfaces::FitOptions options;
  if (of.kind == "auto" || of.kind.starts_with(kFewRuns)) {
    const bool few = of.kind == kFewRuns || of.kind == kFewRunsWaves;
    const auto surface = surfaces::choose_surface(setting.model.factors(), setting.runs, y,
                                                  {.few_runs = few, .threads = 1})
                             .best()
                             .surface;
    if (const auto* fit = dynamic_cast<const surfaces::Fit*>(surface.get())) {
      return {surface, std::make_shared<surfaces::ShrunkenPosterior>(
                           *surfaces::ShrunkenPosterior::of(*fit, setting.model))};
    }
    const auto& process = dynamic_cast<const surfaces::GaussianProcess&>(*surface);
    return {surface, surfaces::posterior_with_polynomial(process, setting.model, 1)};
  }
  options.whole_plots = setting.whole_plots;
  if (of.kind == "huber") options.loss = surfaces::Loss::kHuber;
  const surfaces::Fit fit =
      of.kind == "backward"
          ? surfaces::select_model(setting.model, setting.runs, y,
                                   {.method = doe::SelectionMethod::kBackward, .fit = options})
                .fit
          : surfaces::fit_least_squares(setting.model, setting.runs, y, options);
  auto posterior = surfaces::ShrunkenPosterior::of(fit, setting.model, setting.whole_plots);
  return {std::make_shared<surfaces::Fit>(fit),
          std::make_shared<surfaces::ShrunkenPosterior>(*std::move(posterior))};
}

bool holds(const surfaces::Interval& interval, double value) {
  return interval.low - 1e-9 <= value && value <= interval.high + 1e-9;
}

void add_study(const Case& of, const Setting& setting, std::uint64_t number, Tally& tally) {
  RandomStream random(2, number);
  const Study study = study_of(of, setting, random);
  const auto [surface, posterior] = fitted(of, setting, study.y);
  Eigen::Index best = 0;
  surface->responses(setting.grid).maxCoeff(&best);
  const Eigen::VectorXd at = setting.grid.row(best);
  const Eigen::VectorXd elsewhere = Eigen::VectorXd::Constant(of.factors, -0.5);
  const double there = study.truth(at);
  const double gain = there - study.truth(elsewhere);
  const double next = there + study.next_sigma * surfaces::normal_draw(random.uniform());
  double five = there;
  for (int i = 0; i < 5; ++i) {
    five += study.next_sigma * surfaces::normal_draw(random.uniform()) / 5;
  }

  const surfaces::Prediction prediction = surface->predict(at);
  const surfaces::Interval mean = *prediction.confidence_interval();
  Eigen::MatrixXd two(2, of.factors);
  two << at.transpose(), elsewhere.transpose();
  const surfaces::MeanErrors errors = surface->mean_errors(two);
  const double difference = prediction.mean - surface->predict(elsewhere).mean;
  const double error = std::hypot((errors.of_runs.row(0) - errors.of_runs.row(1)).norm(),
                                  (errors.own.row(0) - errors.own.row(1)).norm());
  const double half = surfaces::t_quantile(0.95, prediction.df) * error;
  tally.value += (there - study.mean) / study.deviation;
  tally.fitted.mean += holds(mean, there);
  tally.fitted.next += holds(*prediction.prediction_interval(), next);
  tally.fitted.five += holds(*surfaces::mean_range(prediction, 5), five);
  tally.fitted.gain += holds({difference - half, difference + half}, gain);
  tally.fitted.width += (mean.high - mean.low) / study.sigma;

  const surfaces::Prediction expected = posterior->predict(at);
  const surfaces::Interval shrunken = *expected.confidence_interval();
  const Eigen::MatrixXd draws = posterior->means(two);
  std::vector<double> gains;
  for (Eigen::Index i = 0; i < draws.rows(); ++i) gains.push_back(draws(i, 0) - draws(i, 1));
  tally.posterior.mean += holds(shrunken, there);
  tally.posterior.next += holds(*expected.prediction_interval(), next);
  tally.posterior.five += holds(*surfaces::mean_range(expected, 5), five);
  tally.posterior.gain += holds(surfaces::central_interval(gains, 0.95), gain);
  tally.posterior.width += (shrunken.high - shrunken.low) / study.sigma;
}

void print_case(const Case& of, const Setting& setting, int studies) {
  Tally tally;
  for (int study = 0; study < studies; ++study) {
    add_study(of, setting, static_cast<std::uint64_t>(study), tally);
  }
  const double n = studies;
  const Rates &a = tally.fitted, &b = tally.posterior;
  fmt::print(
      "| {} | {} | {} | {:.3f} → {:.3f} | {:.3f} → {:.3f} | {:.3f} → {:.3f} | {:.3f} → {:.3f} | "
      "{:.2f} | {:.2f} |\n",
      of.factors, std::isinf(of.noise) ? "nothing matters" : fmt::format("{}", of.noise), of.kind,
      a.mean / n, b.mean / n, a.next / n, b.next / n, a.five / n, b.five / n, a.gain / n,
      b.gain / n, b.width / a.width, tally.value / n);
  std::fflush(stdout);
}

}  // namespace

int main(int count, char** arguments) {
  const int studies = count > 1 ? std::atoi(arguments[1]) : 1'000;
  const std::string only = count > 2 ? arguments[2] : "";
  const std::map<std::string, std::vector<int>> kinds{
      {"none", {2, 3, 5, 6}},     {"backward", {2, 3}},
      {"whole-plots", {3}},       {"huber", {2, 3}},
      {"auto", {2, 3}},           {"parametric", {1}},
      {"few-runs", {3, 4}},       {"few-runs-polynomial", {3, 4}},
      {"few-runs-waves", {3, 4}}, {"gaussian-process", {2, 3, 4}}};
  fmt::print(
      "| factors | noise | kind | mean | next run | mean of 5 | gain | width | value "
      "|\n|---|---|---|---|---|---|---|---|---|\n");
  for (const auto& [kind, numbers] : kinds) {
    if (!only.empty() && kind != only) continue;
    for (const int k : numbers) {
      const Setting setting = setting_of({kind, k, 0});
      for (const double noise : {0.05, 0.3, 0.6, 1.0, 2.0, kNothing}) {
        if (kind == "parametric" && noise > 1) continue;
        print_case({kind, k, noise}, setting, studies);
      }
    }
  }
  return 0;
}
