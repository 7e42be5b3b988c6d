#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>
#include <numbers>

#include "analysis/design_quality.h"
#include "analysis/effects.h"
#include "analysis/tornado.h"
#include "analysis/trade_off.h"
#include "doe/design.h"
#include "reports/figures/axes.h"
#include "reports/figures/figures.h"
#include "reports/page/report_page.h"
#include "study/directory/import.h"
#include "tests/reports/figure_case.h"

using namespace doetune;
using Catch::Contains;
using tests::Case;
using tests::head;
using tests::kTwoFactors;

namespace {

/// The published runs with conflicting goals: high throughput and short processing time.
std::string fast_and_soon() {
  std::string text = tests::fccd_study_text();
  const auto replace = [&](const std::string& from, const std::string& to) {
    text.replace(text.find(from), from.size(), to);
  };
  replace("goal: within, low: 1800, high: 2500", "goal: maximize");
  replace("goal: within, low: 0.5, high: 1.0", "goal: minimize");
  return text;
}

/// Checks what must not appear on any page.
void check_is_sound(const reports::Report& report) {
  for (const reports::Figure& figure : report.figures) {
    INFO(figure.name);
    CHECK_THAT(figure.svg, !Contains("nan") && !Contains("inf "));
    CHECK_FALSE(figure.title.empty());
    CHECK_THAT(figure.title, !Contains("nan"));
    CHECK_THAT(figure.svg, Contains("role=\"img\"") && Contains("<title>"));
  }
  CHECK_THAT(report.html, !Contains(">nan") && !Contains(" nan ") && !Contains(">inf<"));
}

bool has_figure(const reports::Report& report, const std::string& start) {
  return std::any_of(report.figures.begin(), report.figures.end(),
                     [&](const reports::Figure& f) { return f.name.starts_with(start); });
}

}  // namespace

TEST_CASE("Marks of an axis are round settings", "[reports][figures]") {
  const study::Study study = study::parse_study(
      "factors:\n"
      "  batch: {low: 1, high: 32, type: integer, scale: log2}\n"
      "  size: {low: 3, high: 5000, type: integer, scale: log2}\n"
      "  rate: {low: 0.001, high: 100, scale: log10}\n"
      "  count: {low: 0, high: 100, type: integer}\n"
      "  few: {levels: [3, 7, 9]}\n"
      "responses: {y: {}}\n",
      "s.yaml");
  const auto marked = [&](int f) { return reports::marked_settings(study.factors[f]); };
  CHECK(marked(0) == std::vector<double>{1, 2, 4, 8, 16, 32});
  CHECK(marked(1) == std::vector<double>{4, 16, 64, 256, 1024, 4096});
  CHECK(marked(2).size() == 6);
  CHECK(marked(3).front() == 0);
  CHECK(marked(3).back() == 100);
  CHECK(marked(4) == std::vector<double>{3, 7, 9});
}

TEST_CASE("A tornado shows what the surface predicts one step off the optimum",
          "[reports][figures]") {
  const Case study(tests::fccd_study_text());
  const std::vector<doe::Factor>& factors = study.directory.study.factors;
  const std::vector<double>& best = study.analysis.optimum->best.settings;
  const std::vector<analysis::Tornado> found = analysis::tornados(study.analysis);
  REQUIRE(found.size() == 2);
  for (const analysis::Tornado& tornado : found) {
    const surfaces::Fit& fit = *tornado.response->fit;
    CHECK(tornado.centre == Approx(fit.predict(doe::coded_point(factors, best)).response()));
    REQUIRE(tornado.swings.size() == 3);
    for (const analysis::FactorSwing& swing : tornado.swings) {
      for (const std::optional<analysis::SwingEnd>& end : {swing.down, swing.up}) {
        if (!end) continue;
        std::vector<double> moved = best;
        moved[swing.factor] = end->setting;
        CHECK(end->mean == Approx(fit.predict(doe::coded_point(factors, moved)).response()));
      }
      // An integer has step 1; there is no step beyond the end of the range.
      if (factors[swing.factor].kind == doe::FactorKind::kInteger) {
        if (swing.down) CHECK(swing.down->setting == best[swing.factor] - 1);
        if (swing.up) CHECK(swing.up->setting == best[swing.factor] + 1);
        CHECK(swing.up.has_value() == (best[swing.factor] < factors[swing.factor].high));
      }
    }
    for (std::size_t i = 1; i < tornado.swings.size(); ++i) {
      CHECK(tornado.swings[i - 1].reach(tornado.centre) >= tornado.swings[i].reach(tornado.centre));
    }
  }
}

TEST_CASE("A front holds settings that no others beat, and goals at odds are known as such",
          "[reports][figures]") {
  const Case study(fast_and_soon());
  const std::vector<analysis::GoalPair> pairs = analysis::goal_pairs(study.analysis);
  REQUIRE(pairs.size() == 1);
  CHECK(pairs[0].agreement < -0.5);
  const auto& points = study.analysis.details->pareto.points;
  const std::vector<std::size_t> front = analysis::front_of(study.analysis, pairs[0]);
  REQUIRE(front.size() > 5);
  const auto fast = [&](std::size_t i) { return points[i].candidate.predictions[0].mean; };
  const auto slow = [&](std::size_t i) { return points[i].candidate.predictions[1].mean; };
  for (std::size_t i = 1; i < front.size(); ++i) {
    CHECK(fast(front[i]) < fast(front[i - 1]));
    CHECK(slow(front[i]) < slow(front[i - 1]));
  }
  const std::vector<reports::Figure> figures = reports::trade_off_figures(study.analysis);
  REQUIRE(figures.size() == 1);
  CHECK_THAT(figures[0].title, Contains("Changing throughput from"));
}

TEST_CASE("Two limits have no front, but the runs that keep to both are counted",
          "[reports][figures]") {
  // Only one of the published runs meets both limits: 1832 images/s in 0.58 s.
  const Case study(tests::fccd_study_text());
  const std::vector<reports::Figure> figures = reports::trade_off_figures(study.analysis);
  REQUIRE(figures.size() == 1);
  CHECK_THAT(figures[0].title, Contains("1 of 20 measured runs has both"));
}

TEST_CASE("Alternatives are described by what they gain and lose", "[reports][figures]") {
  const Case study(fast_and_soon());
  const surfaces::Optimum& optimum = *study.analysis.optimum;
  REQUIRE(study.analysis.details->alternative_gains.size() == optimum.alternatives.size());
  REQUIRE_FALSE(optimum.alternatives.empty());
  for (std::size_t i = 0; i < optimum.alternatives.size(); ++i) {
    const std::string text = analysis::alternative_text(study.analysis, i);
    CHECK_THAT(text, Contains("With ") && Contains(" instead of ") && Contains("throughput "));
    const surfaces::Gain& gain = study.analysis.details->alternative_gains[i][0];
    CHECK(gain.difference ==
          Approx(optimum.alternatives[i].predictions[0].mean - optimum.best.predictions[0].mean));
    if (gain.interval->low > 0) CHECK_THAT(text, Contains("throughput better by "));
    if (gain.interval->high < 0) CHECK_THAT(text, Contains("throughput worse by "));
  }
}

TEST_CASE("Without residual freedom a half-normal plot names what stands out",
          "[reports][figures]") {
  // Filtration rate. Source: Montgomery, Design and Analysis of Experiments, 8th edition, example
  // 6.2: A, C, D, AC and AD exceed Lenth's margin of 6.75 (for effects; coefficients are half).
  const std::array<int, 16> y = {45, 71, 48, 65, 68, 60, 80, 65, 43, 100, 45, 104, 75, 86, 70, 96};
  std::string factors, model = "[\"1\"", csv = "a,b,c,d,y\n";
  for (const char name : {'a', 'b', 'c', 'd'}) {
    factors += std::string("  ") + name + ": {low: -1, high: 1}\n";
  }
  for (int term = 1; term < 16; ++term) {
    std::string text;
    for (int f = 0; f < 4; ++f) {
      if (term >> f & 1) text += (text.empty() ? "" : "*") + std::string(1, "abcd"[f]);
    }
    model += ", " + text;
  }
  for (int run = 0; run < 16; ++run) {
    for (int f = 0; f < 4; ++f) csv += (run >> f & 1 ? "1," : "-1,");
    csv += std::to_string(y[static_cast<std::size_t>(run)]) + "\n";
  }
  const Case study(head(factors, model + "]"), csv);
  const auto saturated = analysis::saturated_effects(*study.analysis.responses[0].fit);
  REQUIRE(saturated);
  CHECK(saturated->margins.margin == Approx(6.7478 / 2).epsilon(1e-4));
  CHECK(saturated->margins.simultaneous_margin == Approx(13.699 / 2).epsilon(1e-4));
  CHECK(saturated->beyond(saturated->margins.margin) ==
        std::vector<std::string>{"a", "a*c", "a*d", "d", "c"});
  const reports::Report report = reports::make_report(study.analysis);
  check_is_sound(report);
  CHECK(has_figure(report, "half-normal-y"));
  CHECK_FALSE(has_figure(report, "normal-y"));
  CHECK_THAT(report.html, Contains("a, a*c, a*d, d, c are significant among the 15 terms of y") &&
                              Contains("Without an error estimate there are no residuals") &&
                              Contains("as many coefficients as runs"));
}

TEST_CASE("The prediction variance of a known design", "[reports][figures]") {
  // 2 x 2 runs and 1, a, b: d(x) = (1 + a^2 + b^2) / 4. Over the square its average is 5/12, its
  // median is that of a^2 + b^2 = 2 / pi, its maximum 3/4 at the corners.
  const Case study(head("  a: {low: -1, high: 1}\n  b: {low: -1, high: 1}\n", "linear"),
                   "a,b,y\n-1,-1,1\n1,-1,2\n-1,1,3\n1,1,5\n");
  const analysis::DesignQuality quality = analysis::design_quality(study.analysis);
  const doe::FullEvaluation& evaluation = quality.shown();
  CHECK(*evaluation.average_variance == Approx(5.0 / 12));
  CHECK(evaluation.variance_quantiles[10] == Approx((1 + 2 / std::numbers::pi) / 4).epsilon(0.01));
  CHECK(evaluation.variance_quantiles.back() == Approx(0.75));
  CHECK(*evaluation.basics.d_efficiency == Approx(100));
  CHECK(*evaluation.g_efficiency == Approx(100));
  const std::vector<reports::Figure> figures = reports::design_figures(study.analysis, quality);
  CHECK_THAT(figures[0].title, Contains("at most 0.6"));
  CHECK_THAT(figures.back().title, Contains("terms of the model are uncorrelated"));
}

TEST_CASE("Joint intervals hold for all terms together", "[reports][figures]") {
  const Case study(tests::fccd_study_text());
  const std::vector<analysis::Effect> effects =
      analysis::effects_of(*study.analysis.responses[0].fit);
  REQUIRE(effects.size() == 9);
  // R: qt(1 - 0.05/18, 10), against qt(0.975, 10)
  for (const analysis::Effect& effect : effects) {
    const double wide = effect.joint_interval->high - effect.estimate;
    const double narrow = effect.interval->high - effect.estimate;
    CHECK(wide / narrow == Approx(3.51815 / 2.228139).epsilon(1e-3));
    CHECK((!effect.is_certain() || effect.is_clear()));
  }
}

TEST_CASE("Sections say what a study cannot have", "[reports][figures]") {
  SECTION("one response constant") {
    const Case study(head(kTwoFactors, "linear"),
                     "a,b,y\n-1,-1,2\n1,-1,2\n-1,1,2\n1,1,2\n0,0,2\n0,0,2\n");
    const reports::Report report = reports::make_report(study.analysis);
    check_is_sound(report);
    CHECK_FALSE(has_figure(report, "normal-y"));
    CHECK_FALSE(has_figure(report, "contour-y"));  // a constant surface has no contours
    CHECK_FALSE(has_figure(report, "effects-y"));
    CHECK(has_figure(report, "design-power"));
    CHECK_THAT(report.html, Contains("no factor has an effect on y."));
  }
  SECTION("categorical factors only") {
    const Case study(head("  p: {levels: [x, y, z]}\n  q: {levels: [u, v]}\n", "linear"),
                     "p,q,y\nx,u,1\nx,v,2.1\ny,u,3\ny,v,4.2\nz,u,5\nz,v,6.3\nx,u,1.1\nz,v,6.2\n");
    const reports::Report report = reports::make_report(study.analysis);
    check_is_sound(report);
    CHECK_THAT(report.html, Contains("No factor can be moved by a step"));
    CHECK_FALSE(has_figure(report, "perturbation"));
  }
  SECTION("one factor") {
    const Case study(head("  a: {low: 0, high: 4, type: integer}\n", "quadratic"),
                     "a,y\n0,5\n1,3\n2,2.1\n3,3.2\n4,5.1\n2,2\n");
    const reports::Report report = reports::make_report(study.analysis);
    check_is_sound(report);
    CHECK_THAT(report.html, Contains("There is only one goal") && Contains("A minimum (") &&
                                Contains("The surfaces have no interactions"));
    CHECK(has_figure(report, "perturbation-y"));
  }
  SECTION("runs missing") {
    Case study(tests::fccd_study_text());
    for (int run = 12; run <= 20; ++run) study.analysis.records.erase(run);
    const analysis::DesignQuality quality = analysis::design_quality(study.analysis);
    REQUIRE(quality.made);
    CHECK(quality.made->basics.runs == 11);
    CHECK(quality.planned.basics.runs == 20);
    check_is_sound(reports::make_report(study.analysis));
    CHECK_THAT(reports::report_html(study.analysis),
               Contains("11 of 20 planned runs are complete"));
  }
  SECTION("no runs at all") {
    Case study(tests::fccd_study_text());
    study.analysis = analysis::Analysis{};
    study.analysis.directory = &study.directory;
    for (const study::Response& response : study.directory.study.responses) {
      study.analysis.responses.push_back({response, {}, "no completed runs", {}});
    }
    const reports::Report report = reports::make_report(study.analysis);
    check_is_sound(report);
    CHECK(has_figure(report, "design-space-fraction"));
  }
}

TEST_CASE("Of many runs each costs a few bytes", "[reports][figures]") {
  std::string csv = "a,b,y\n";
  for (int run = 0; run < 1000; ++run) {
    const double a = run % 5 / 2.0 - 1, b = run / 5 % 5 / 2.0 - 1;
    csv += fmt::format("{},{},{}\n", a, b, 5 + a * b + std::sin(12.9898 * run));
  }
  const Case study(head(kTwoFactors, "quadratic"), csv);
  for (const reports::Figure& figure : reports::diagnostic_figures(study.analysis.responses[0])) {
    INFO(figure.name);
    CHECK(figure.svg.size() < 70'000);  // half of it is the CSV data
  }
}
