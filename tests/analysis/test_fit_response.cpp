// Fits as specified in the study file, of runs generated from known surfaces.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cmath>

#include "analysis/fit_response.h"
#include "analysis/trust.h"
#include "base/random.h"
#include "doe/design.h"
#include "study/study.h"
#include "surfaces/distributions.h"
#include "surfaces/models/mixed_posterior.h"

using namespace doetune;
using analysis::ResponseAnalysis;
using analysis::ResponseRuns;
using Catch::Contains;

namespace {

/// Two replicates of a 5 x 5 grid over the ranges of two factors.
template <typename Response>
ResponseRuns runs_of(const study::Study& study, const Response& response) {
  RandomStream random(7, 0);
  ResponseRuns runs{
      {}, Eigen::MatrixXd(50, 2), Eigen::MatrixXd(50, 2), Eigen::VectorXd(50), {}, {}, true};
  for (int i = 0; i < 50; ++i) {
    const Eigen::Vector2d coded(i / 2 % 5 / 2.0 - 1, i / 10 / 2.0 - 1);
    for (int f = 0; f < 2; ++f) runs.settings(i, f) = study.factors[f].to_natural(coded[f]);
    runs.coded.row(i) = coded.transpose();
    runs.y[i] =
        response(runs.settings(i, 0), runs.settings(i, 1), surfaces::normal_draw(random.uniform()));
    runs.runs.push_back(i + 1);
    runs.blocks.push_back(1);
  }
  return runs;
}

study::Study study_of(const std::string& response, const std::string& more = "") {
  return study::parse_study(
      "factors: {n: {low: 1, high: 33}, b: {low: 0, high: 4}}\nresponses: {y: " + response + "}\n" +
          more,
      "s.yaml");
}

template <typename Response>
ResponseAnalysis analysis_of(const study::Study& study, const Response& response,
                             const analysis::AnalysisOptions& options = {}) {
  return analysis::fit_response(study, study.responses[0], runs_of(study, response), options);
}

double universal(double n, double, double noise) {
  return 100 * n / (1 + 0.05 * (n - 1) + 0.002 * n * (n - 1)) + 0.1 * noise;
}

}  // namespace

TEST_CASE("A parametric model can replace the polynomial", "[reports][fit]") {
  const study::Study study = study_of("{fit: {surface: universal-scalability, factor: n}}");
  const ResponseAnalysis analysis = analysis_of(study, universal);
  REQUIRE(analysis.other);
  CHECK(analysis.kind == doe::SurfaceType::kUniversalScalability);
  CHECK(analysis.surface() == analysis.other.get());
  CHECK_FALSE(analysis.is_plain_polynomial());
  const Eigen::Vector2d at(study.factors[0].to_coded(20), 0);
  CHECK(analysis.surface()->response(at) == Approx(universal(20, 0, 0)).epsilon(1e-3));
}

TEST_CASE("A parametric model is fitted on the scale of its response", "[reports][fit]") {
  const study::Study study =
      study_of("{transform: log, fit: {surface: universal-scalability, factor: n}}");
  const ResponseAnalysis analysis = analysis_of(study, universal);
  const auto* parametric = dynamic_cast<const surfaces::ParametricFit*>(analysis.other.get());
  REQUIRE(parametric != nullptr);
  CHECK(parametric->transform == surfaces::Transform::kLog);
  CHECK_THAT(analysis::trust(analysis).sentence, Contains("R² > 0.99 on the log scale: y = c x"));
  const ResponseAnalysis negative =
      analysis_of(study, [](double n, double, double) { return 5 - n; });
  CHECK(negative.surface() == nullptr);
  CHECK_THAT(negative.problem, Contains("universal-scalability: transform 'log' is not defined"));
}

TEST_CASE("auto prefers the simplest surface that predicts as well", "[reports][fit]") {
  const study::Study study = study_of("{}", "model: auto");
  const ResponseAnalysis plane =
      analysis_of(study, [](double n, double b, double noise) { return n - b + noise; });
  CHECK(plane.kind == doe::SurfaceType::kPolynomial);
  CHECK(plane.choice->best().name == "linear");
  CHECK(plane.fit->model.column_count() == 3);
  const ResponseAnalysis step = analysis_of(study, [](double n, double b, double noise) {
    return 10 * std::tanh((n - 15) / 3) + b + 0.1 * noise;
  });
  CHECK(step.kind == doe::SurfaceType::kGaussianProcess);
  CHECK(step.surface()->response(Eigen::Vector2d(1, 0)) == Approx(12).margin(0.3));
}

TEST_CASE("Selection keeps the terms that matter", "[reports][fit]") {
  analysis::AnalysisOptions options;
  options.selection = doe::SelectionMethod::kBestSubset;
  const ResponseAnalysis analysis = analysis_of(
      study_of("{}", "model: quadratic"),
      [](double n, double b, double noise) { return n + (b - 2) * (b - 2) + 0.1 * noise; },
      options);
  REQUIRE(analysis.selection);
  const std::vector<std::string> terms = analysis.fit->model.term_names();
  CHECK(std::find(terms.begin(), terms.end(), "b^2") != terms.end());
  CHECK(std::find(terms.begin(), terms.end(), "n^2") == terms.end());
  CHECK_FALSE(analysis.selection->warning.empty());
}

TEST_CASE("box-cox finds the scale on which the error is even", "[reports][fit]") {
  const ResponseAnalysis analysis = analysis_of(
      study_of("{transform: box-cox}", "model: linear"),
      [](double n, double b, double e) { return std::exp(0.1 * n + 0.5 * b + 0.1 * e); });
  CHECK(analysis.fit->transform == surfaces::Transform::kLog);
}

TEST_CASE("Whole plots have an error of their own", "[reports][fit]") {
  const study::Study study = study_of("{}", "model: linear");
  ResponseRuns runs =
      runs_of(study, [](double n, double b, double noise) { return n + b + noise; });
  for (int i = 0; i < 50; ++i) runs.whole_plots.push_back(i / 5 + 1);
  const ResponseAnalysis analysis = analysis::fit_response(study, study.responses[0], runs, {});
  REQUIRE(analysis.fit);
  REQUIRE(analysis.fit->split_plot);
  CHECK(analysis.fit->split_plot->whole_plots == 10);
  CHECK(analysis::trust(*analysis.fit).level == analysis::Trust::Level::kUnknown);
  CHECK_FALSE(analysis.is_plain_polynomial());
}

TEST_CASE("Robust losses resist an outlier and name it", "[reports][fit]") {
  const auto response = [](double n, double b, double noise) {
    return n > 30 && b == 0 ? 1000 + noise : n + b + noise;
  };
  for (const doe::Loss loss : {doe::Loss::kHuber, doe::Loss::kTukey}) {
    analysis::AnalysisOptions options;
    options.loss = loss;
    const ResponseAnalysis analysis =
        analysis_of(study_of("{}", "model: linear"), response, options);
    REQUIRE(analysis.fit);
    CHECK(analysis.sequential);  // without an analysis of variance of its steps
    const auto found = analysis::findings(analysis);
    CHECK(std::any_of(found.begin(), found.end(), [](const analysis::Finding& finding) {
      return finding.sentence.find("less than half") != std::string::npos;
    }));
  }
}

TEST_CASE("A parametric model names its factor where there is a choice", "[reports][fit]") {
  analysis::AnalysisOptions options;
  options.surface = doe::SurfaceType::kAmdahl;
  const ResponseAnalysis analysis = analysis_of(study_of("{}"), universal, options);
  CHECK_FALSE(analysis.other);
  CHECK_THAT(analysis.problem, Contains("--surface-factor (n, b)"));
}

TEST_CASE("A response without a surface says why", "[reports][fit]") {
  const study::Study study = study_of("{}", "model: quadratic");
  const ResponseRuns none{
      {}, Eigen::MatrixXd(0, 2), Eigen::MatrixXd(0, 2), Eigen::VectorXd(0), {}, {}, false};
  const ResponseAnalysis unmeasured = analysis::fit_response(study, study.responses[0], none, {});
  CHECK(unmeasured.surface() == nullptr);
  CHECK_THAT(unmeasured.problem, Contains("no completed run"));
  const ResponseAnalysis negative =
      analysis_of(study_of("{transform: log}"), [](double n, double, double) { return 5 - n; });
  CHECK_FALSE(negative.fit);
  CHECK_THAT(negative.problem, Contains("log"));
  const ResponseAnalysis infinite = analysis_of(study_of("{}"), [](double n, double, double) {
    return n > 30 ? std::numeric_limits<double>::infinity() : n;
  });
  CHECK_THAT(infinite.problem, Contains("not a finite number"));
  const ResponseAnalysis huge = analysis_of(
      study_of("{}"), [](double n, double, double e) { return n > 30 ? 1e300 : 10 + e; });
  CHECK_THAT(huge.problem, Contains("out of the numerical range"));
}

namespace {

struct Coverage {
  double at_low = 0, at_high = 0;  ///< of 95 % prediction intervals, at the ends of n
  double repeats_used = 0;         ///< fraction of the fits
};

/// 300 repetitions of 24 unreplicated runs of a plane, with five repeats each. The standard
/// deviation of repeats is exp(1.2 n), n coded; that of runs is `level` times it, or constant.
Coverage coverage_of(double level, bool constant) {
  const study::Study study = study_of("{fit: {variance: modelled}}", "model: linear");
  constexpr int kTimes = 300;
  Coverage coverage;
  for (int s = 0; s < kTimes; ++s) {
    RandomStream random(11, static_cast<std::uint64_t>(s));
    const auto normal = [&] { return surfaces::normal_draw(random.uniform()); };
    ResponseRuns runs{
        {}, Eigen::MatrixXd(24, 2), Eigen::MatrixXd(24, 2), Eigen::VectorXd(24), {}, {}, false};
    const auto spread = [&](double n) { return level * (constant ? 1 : std::exp(1.2 * n)); };
    for (int i = 0; i < 24; ++i) {
      const Eigen::Vector2d coded(i / 11.5 - 1, i % 2 == 0 ? -1 : 1);
      runs.coded.row(i) = coded.transpose();
      for (int f = 0; f < 2; ++f) runs.settings(i, f) = study.factors[f].to_natural(coded[f]);
      runs.y[i] = 3 * coded[0] + coded[1] + spread(coded[0]) * normal();
      double squares = 0;
      for (int df = 0; df < 4; ++df) squares += std::pow(normal(), 2);
      runs.repeats.push_back({5, runs.y[i], std::exp(2.4 * coded[0]) * squares / 4});
      runs.runs.push_back(i + 1);
      runs.blocks.push_back(1);
    }
    const ResponseAnalysis analysis = analysis::fit_response(study, study.responses[0], runs, {});
    REQUIRE(analysis.fit);
    coverage.repeats_used += *analysis.repeats_used ? 1.0 / kTimes : 0;
    for (const double n : {-1.0, 1.0}) {
      const auto interval = analysis.fit->predict(Eigen::Vector2d(n, 0)).prediction_interval();
      const double y = 3 * n + spread(n) * normal();
      const bool held = interval->low <= y && y <= interval->high;
      (n < 0 ? coverage.at_low : coverage.at_high) += held ? 1.0 / kTimes : 0;
    }
  }
  return coverage;
}

}  // namespace

TEST_CASE("Replicates show where runs scatter, whatever their own level", "[reports][fit]") {
  const Coverage coverage = coverage_of(3, false);
  CHECK(coverage.repeats_used > 0.95);
  CHECK(coverage.at_low == Approx(0.95).margin(0.04));
  CHECK(coverage.at_high == Approx(0.95).margin(0.04));
}

TEST_CASE("Runs that scatter evenly do not follow repeats that don't", "[reports][fit]") {
  const Coverage coverage = coverage_of(3, true);
  CHECK(coverage.repeats_used < 0.05);
  CHECK(coverage.at_low == Approx(0.95).margin(0.04));
  CHECK(coverage.at_high == Approx(0.95).margin(0.04));
}

TEST_CASE("Responses of the same runs are fitted as each alone", "[reports][fit]") {
  const study::Study study = study::parse_study(
      "factors: {n: {low: 1, high: 33}, b: {low: 0, high: 4}}\nmodel: quadratic\n"
      "responses: {same: {}, logs: {transform: log}, robust: {fit: {loss: huber}},\n"
      "            uneven: {fit: {variance: modelled}}, fewer: {}, none: {}}\n",
      "s.yaml");
  std::vector<ResponseRuns> runs;
  for (std::size_t r = 0; r < study.responses.size(); ++r) {
    const double slope = static_cast<double>(r + 1);
    runs.push_back(runs_of(
        study, [&](double n, double b, double noise) { return 50 + slope * n + b * b + noise; }));
  }
  ResponseRuns &fewer = runs[4], &none = runs[5];
  fewer.runs.resize(30);
  fewer.blocks.resize(30);
  for (Eigen::MatrixXd* points : {&fewer.coded, &fewer.settings}) {
    points->conservativeResize(30, Eigen::NoChange);
  }
  fewer.y.conservativeResize(30);
  none = {{}, Eigen::MatrixXd(0, 2), Eigen::MatrixXd(0, 2), Eigen::VectorXd(0), {}, {}, false};
  const std::vector<ResponseAnalysis> all = analysis::fit_responses(study, runs, {});
  REQUIRE(all.size() == study.responses.size());
  for (std::size_t r = 0; r < all.size(); ++r) {
    const ResponseAnalysis alone = analysis::fit_response(study, study.responses[r], runs[r], {});
    CAPTURE(alone.response.name);
    CHECK(all[r].response.name == alone.response.name);
    CHECK(all[r].problem == alone.problem);
    CHECK(all[r].fit.has_value() == alone.fit.has_value());
    if (!alone.fit) continue;
    CHECK(all[r].fit->beta == alone.fit->beta);
    REQUIRE(all[r].sequential->steps.size() == alone.sequential->steps.size());
    CHECK(all[r].sequential->suggested == alone.sequential->suggested);
    for (std::size_t s = 0; s < alone.sequential->steps.size(); ++s) {
      CHECK(all[r].sequential->steps[s].sigma == alone.sequential->steps[s].sigma);
      CHECK(all[r].sequential->steps[s].aicc == alone.sequential->steps[s].aicc);
    }
  }
  CHECK(all[4].fit->n == 30);
  CHECK_THAT(all[5].problem, Contains("no completed run"));
}

TEST_CASE("A supersaturated plan finds the factors that matter", "[reports][fit]") {
  // 10 factors in 8 runs: two effects many times the noise.
  std::string factors, possible;
  for (int f = 1; f <= 10; ++f) {
    factors += fmt::format("{}f{}: {{low: -1, high: 1}}", f > 1 ? ", " : "", f);
    possible += fmt::format("{}f{}", f > 1 ? ", " : "", f);
  }
  const study::Study study = study::parse_study(
      "factors: {" + factors + "}\nmodel: ['1']\ndesign: {type: d-optimal, runs: 8, possible: [" +
          possible + "]}\nresponses: {y: {goal: maximize}}\n",
      "s.yaml");
  doe::DesignRequest request;
  request.factors = study.factors;
  request.model = study.model;
  request.options = study.design.options;
  request.seed = 1;
  RandomStream random(5, 0);
  ResponseRuns runs;
  runs.coded = doe::build_design("d-optimal", request).coded();
  runs.settings = runs.coded;
  runs.y.resize(runs.coded.rows());
  for (Eigen::Index i = 0; i < runs.y.size(); ++i) {
    runs.y[i] = 10 + 5 * runs.coded(i, 2) - 4 * runs.coded(i, 6) +
                0.1 * surfaces::normal_draw(random.uniform());
    runs.runs.push_back(static_cast<int>(i) + 1);
    runs.blocks.push_back(1);
  }
  const ResponseAnalysis analysis = analysis::fit_response(study, study.responses[0], runs, {});
  REQUIRE(analysis.fit);
  CHECK(analysis.fit->model.term_names() == std::vector<std::string>{"1", "f3", "f7"});
  analysis::AnalysisOptions as_given;
  as_given.selection = doe::SelectionMethod::kNone;
  const ResponseAnalysis mean = analysis::fit_response(study, study.responses[0], runs, as_given);
  CHECK(mean.fit->model.column_count() == 1);
}

TEST_CASE("Runs too few for the model are fitted by what predicts best", "[reports][fit]") {
  const study::Study study = study_of("{goal: maximize}", "model: quadratic\n");
  ResponseRuns runs =
      runs_of(study, [](double n, double b, double noise) { return 3 * n + 2 * b + 0.1 * noise; });
  // Five runs: the corners and the centre; a quadratic model in two factors has six coefficients.
  const std::vector<int> kept{0, 8, 24, 40, 48};
  runs.coded = runs.coded(kept, Eigen::all).eval();
  runs.settings = runs.settings(kept, Eigen::all).eval();
  runs.y = runs.y(kept).eval();
  runs.runs = {1, 9, 25, 41, 49};
  runs.blocks.assign(5, 1);
  const ResponseAnalysis analysis = analysis::fit_response(study, study.responses[0], runs, {});
  REQUIRE(analysis.fit);
  CHECK(analysis.problem.empty());
  REQUIRE(analysis.fallback);
  CHECK(analysis.fallback->reason ==
        "5 completed runs do not determine the 6 coefficients of the quadratic model");
  CHECK(analysis.fallback->model == "linear");
  CHECK(analysis.fit->model.column_count() == 3);

  SECTION("a Gaussian process, where no polynomial of so few terms is near") {
    for (int i = 0; i < 5; ++i) runs.y[i] = std::exp(2 * runs.coded(i, 0)) + runs.coded(i, 1);
    const ResponseAnalysis fitted = analysis::fit_response(study, study.responses[0], runs, {});
    REQUIRE(fitted.fallback);
    CHECK(fitted.fallback->model == "Gaussian process");
    CHECK(fitted.kind == doe::SurfaceType::kGaussianProcess);
    // The quadratic that was wanted may still be true.
    CHECK(std::dynamic_pointer_cast<const surfaces::MixedPosterior>(fitted.posterior));
  }
  SECTION("with the transform of the study") {
    const study::Study power =
        study_of("{goal: maximize, transform: box-cox}", "model: quadratic\n");
    const ResponseAnalysis fitted = analysis::fit_response(power, power.responses[0], runs, {});
    CHECK(fitted.fit);
    CHECK(fitted.fallback);
  }
  SECTION("with a robust loss, which has no comparison, by the largest") {
    analysis::AnalysisOptions huber;
    huber.loss = doe::Loss::kHuber;
    const ResponseAnalysis fitted = analysis::fit_response(study, study.responses[0], runs, huber);
    REQUIRE(fitted.fallback);
    CHECK(fitted.fallback->model == "interactions");
  }
  SECTION("but not at all where not even a linear model is determined") {
    runs.coded = runs.coded.topRows(2).eval();
    runs.settings = runs.settings.topRows(2).eval();
    runs.y = runs.y.head(2).eval();
    runs.runs.resize(2);
    runs.blocks.resize(2);
    const ResponseAnalysis none = analysis::fit_response(study, study.responses[0], runs, {});
    CHECK_FALSE(none.fit);
    CHECK_FALSE(none.fallback);
    CHECK_FALSE(none.problem.empty());
  }
}

TEST_CASE("Runs that leave no error of the model are fitted by a model whose error they estimate",
          "[reports][fit]") {
  const study::Study study = study_of("{goal: maximize}", "model: quadratic\n");
  const ResponseRuns all =
      runs_of(study, [](double n, double b, double noise) { return 3 * n + 2 * b + 0.1 * noise; });
  const auto some = [&](const std::vector<int>& kept) {
    ResponseRuns runs = all;
    runs.coded = all.coded(kept, Eigen::all).eval();
    runs.settings = all.settings(kept, Eigen::all).eval();
    runs.y = all.y(kept).eval();
    runs.runs.clear();
    for (const int row : kept) runs.runs.push_back(row + 1);
    runs.blocks.assign(kept.size(), 1);
    return runs;
  };
  // The corners, the centre and the middle of an edge: as many runs as coefficients.
  const std::vector<int> saturated{0, 4, 8, 24, 40, 48};
  const auto fitted = [&](const study::Study& wanted, const ResponseRuns& runs) {
    return analysis::fit_response(wanted, wanted.responses[0], runs, {});
  };
  const ResponseAnalysis analysis = fitted(study, some(saturated));
  REQUIRE(analysis.fallback);
  CHECK(analysis.fallback->model == "linear");
  CHECK(analysis.fallback->reason ==
        "6 completed runs determine the 6 coefficients of the quadratic model, but not its error");
  CHECK(analysis.expected(Eigen::Vector2d(0, 0)).prediction_interval(0.95));

  SECTION("blocks take runs from the estimate of the error as well") {
    ResponseRuns blocked = some({0, 4, 8, 24, 40, 44, 48});
    blocked.blocks = {1, 2, 1, 1, 2, 2, 1};
    CHECK(fitted(study, blocked).fallback);
    blocked.blocks.assign(7, 1);
    CHECK_FALSE(fitted(study, blocked).fallback);
  }
  SECTION("a replicate estimates the error") {
    CHECK_FALSE(fitted(study, some({0, 1, 4, 8, 24, 40, 48})).fallback);
  }
  SECTION("terms that were listed stay: a half-normal plot tests them") {
    const study::Study listed = study_of("{goal: maximize}", "model: ['1', n, b, n*b, n^2, b^2]\n");
    CHECK_FALSE(fitted(listed, some(saturated)).fallback);
  }
  SECTION("a linear model without an error stays: there is no smaller one") {
    const study::Study linear = study_of("{goal: maximize}", "model: linear\n");
    const ResponseAnalysis none = fitted(linear, some({0, 8, 40}));
    REQUIRE(none.fit);
    CHECK_FALSE(none.fallback);
    CHECK(none.fit->df_residual == 0);
  }
}
