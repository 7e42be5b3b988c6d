#include <fmt/format.h>

#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <regex>

#include "analysis/effects.h"
#include "analysis/level_words.h"
#include "analysis/reference_point.h"
#include "analysis/surface_words.h"
#include "reports/figures/figures.h"
#include "reports/figures/svg.h"
#include "reports/page/report_page.h"
#include "tests/reports/figure_case.h"

using namespace doetune;
using Catch::Contains;
using tests::Case;
using tests::head;
using tests::kTwoFactors;

TEST_CASE("The shape of a surface in words", "[reports][figures]") {
  std::string csv = "a,b,y\n";
  for (int a = -1; a <= 1; ++a) {
    for (int b = -1; b <= 1; ++b) {
      const double y = 10 + 3 * (a - 0.5) * (a - 0.5) + 1 * b * b + 0.001 * ((a + 2 * b) % 3);
      csv += std::to_string(a) + "," + std::to_string(b) + "," + std::to_string(y) + "\n";
    }
  }
  const Case study(head(kTwoFactors, "quadratic"), csv);
  const std::string words = analysis::shape_words(study.analysis, study.analysis.responses[0]);
  CHECK_THAT(words, Contains("A minimum (probability > 99 %) at a = 0.500, b = ") &&
                        Contains("inside the region") && Contains("It curves most along a."));
}

TEST_CASE("Where no factor is shown to have an effect, the surface has no shape",
          "[reports][figures]") {
  // Values without any relation to the settings; the flat prior of the draws called it a saddle.
  const Case study(head(kTwoFactors, "quadratic"),
                   "a,b,y\n-1,-1,10.2\n0,-1,9.1\n1,-1,10.9\n-1,0,9.7\n0,0,10.8\n1,0,9.2\n"
                   "-1,1,10.1\n0,1,9.4\n1,1,10.3\n0,0,9.3\n0,0,10.5\n");
  CHECK_THAT(analysis::shape_words(study.analysis, study.analysis.responses[0]),
             Contains("Not determined, as no factor is shown to have an effect (p = "));
  CHECK_THAT(analysis::effects_conclusion(study.analysis.responses[0]),
             Contains("No factor is shown to have an effect on y (p = "));
}

TEST_CASE("Titles of diagnostic figures regard how many tests were asked", "[reports][figures]") {
  const Case study(head(kTwoFactors, "linear"),
                   "a,b,y\n-1,-1,1.2\n1,-1,3.1\n-1,1,2.3\n1,1,3.9\n0,0,2.4\n0,0,2.7\n0,0,2.5\n");
  analysis::ResponseAnalysis response = study.analysis.responses[0];
  REQUIRE(response.diagnostics.spread);
  response.diagnostics.spread->p = 0.03;
  const auto titles = [&](double level) {
    response.levels.assumptions = level;
    std::string all;
    for (const auto& figure : reports::diagnostic_figures(response)) all += figure.title + "\n";
    return all;
  };
  CHECK_THAT(titles(0.05), Contains("(p = 0.03): transform it."));
  CHECK_THAT(titles(0.01), Contains("(p = 0.03); not significant among all tests of the study."));
}

TEST_CASE("With categorical factors the shape is that at the optimum's levels",
          "[reports][figures]") {
  // y = 10 + 3 (a - 0.5)^2 + b^2, and 4 more at level v: the minimum is at a = 0.5, b = 0, level u.
  std::string csv = "a,b,p,y\n";
  for (int a = -1; a <= 1; ++a) {
    for (int b = -1; b <= 1; ++b) {
      for (const char* level : {"u", "v"}) {
        const double y = 10 + 3 * (a - 0.5) * (a - 0.5) + b * b + (*level == 'v' ? 4 : 0) +
                         0.001 * ((a + 2 * b) % 3);
        csv += fmt::format("{},{},{},{}\n", a, b, level, y);
      }
    }
  }
  const Case study(head(kTwoFactors + "  p: {levels: [u, v]}\n", "quadratic"), csv);
  const std::string words = analysis::shape_words(study.analysis, study.analysis.responses[0]);
  CHECK_THAT(words, Contains("With p = u a minimum at a = 0.500, b = ") &&
                        Contains("inside the region; 10.0") && !Contains("p = u,"));
  CHECK_THAT(analysis::level_words(study.analysis, study.analysis.responses[0], 2),
             Contains("highest with v (14.0") && Contains(", then u (10.0"));
}

TEST_CASE("Levels are distinguished where the runs distinguish them", "[reports][figures]") {
  // Means of two runs each: 10, 10.1 and 20, with a standard deviation of 1: R's t.test gives p =
  // 0.9 for the first two, and p < 0.01 for either against the third.
  const Case study(head("  p: {levels: [u, v, w]}\n", "linear"),
                   "p,y\nu,9.5\nu,10.5\nv,9.6\nv,10.6\nw,19.5\nw,20.5\n");
  const std::string words = analysis::level_words(study.analysis, study.analysis.responses[0], 0);
  CHECK_THAT(words, Contains("highest with w (20.0 s), then v (10.1) or u (10.0)"));
}

TEST_CASE("Titles have the digits that the intervals leave", "[reports][figures]") {
  // Throughput at the published optimum has a half-width of some 200 images/s, and so have its
  // changes.
  const Case study(tests::fccd_study_text());
  const reports::Report report = reports::make_report(study.analysis);
  const std::regex too_precise(
      "[0-9]{3,}\\.[0-9]|[1-9][0-9]\\.[0-9]{2}|[1-9]\\.[0-9]{3}|0\\.[1-9][0-9]{3}");
  for (const reports::Figure& figure : report.figures) {
    INFO(figure.title);
    CHECK_FALSE(std::regex_search(figure.title, too_precise));
  }
}

TEST_CASE("Interactions are described as what raising one factor does", "[reports][figures]") {
  const Case study(tests::fccd_study_text());
  const std::vector<reports::Figure> figures = reports::interaction_figures(study.analysis);
  REQUIRE_FALSE(figures.empty());
  for (const reports::Figure& figure : figures) {
    CHECK_THAT(figure.title, Contains("Raising ") && Contains(" from ") && Contains(", but by "));
  }
}

TEST_CASE("Names of curves stand beside the curves, not on them", "[reports][figures]") {
  const Case study(tests::fccd_study_text());
  for (const reports::Figure& figure : reports::interaction_figures(study.analysis)) {
    INFO(figure.name);
    // Every dot is the right end of a line; its name begins to the right of everything drawn.
    const std::regex dot("<circle cx=\"([0-9.]+)\""), name("<text x=\"([0-9.]+)\"[^>]*>[a-z_]+ = ");
    std::smatch found;
    REQUIRE(std::regex_search(figure.svg, found, dot));
    const double end = std::stod(found[1]);
    REQUIRE(std::regex_search(figure.svg, found, name));
    CHECK(std::stod(found[1]) > end + 4);
  }
}

TEST_CASE("What constraints exclude is grey, and no part of what meets the limits",
          "[reports][figures]") {
  tests::TemporaryDirectory folder;
  const study::StudyDirectory directory = tests::make_mixed_study(folder.path());
  const analysis::Analysis analysis = analysis::analyse(directory);
  const std::vector<reports::Figure> figures = reports::contour_figures(analysis);
  REQUIRE_FALSE(figures.empty());
  for (const reports::Figure& figure : figures) {
    CHECK_THAT(figure.caption, Contains("Grey: excluded by the study's constraints."));
    CHECK_THAT(figure.title, Contains("of the allowed part"));
    CHECK_THAT(figure.svg, Contains("fill=\"#d9dde2\""));
  }
}

TEST_CASE("Where runs hardly complete is grey too", "[reports][figures]") {
  // Runs with a * b of 45 and more could not run: the corner of high a and b.
  tests::TemporaryDirectory folder;
  const study::StudyDirectory directory = tests::make_constrained_study(folder.path());
  const analysis::Analysis analysis = analysis::analyse(directory);
  REQUIRE(analysis.feasibility);
  for (const reports::Figure& figure : reports::contour_figures(analysis)) {
    CHECK_THAT(figure.caption, Contains("or a run completes with a probability below 95 %"));
  }
}

TEST_CASE("Figures promise nothing that is unlikely to complete", "[reports][figures]") {
  // y rises with batch and execs, but above a product of 32 runs end for want of memory. No allowed
  // settings are better than the optimum, so no change between allowed settings is as large as the
  // optimum itself.
  std::string csv = "batch,execs,y,status\n";
  for (int i = 0; i < 18; ++i) {
    const int batch = std::array{1, 6, 32}[i % 3], execs = std::array{1, 4, 6}[i / 3 % 3];
    const double y = 100 * std::pow(batch, 0.6) * std::pow(execs, 0.5) * (1 + 0.01 * (i * 7 % 5));
    csv += fmt::format("{},{},", batch, execs) +
           (batch * execs <= 32 ? fmt::format("{},completed\n", y) : ",infeasible\n");
  }
  const Case study(
      "study: memory\nseed: 1\ncommand: [./run]\nfactors:\n"
      "  batch: {low: 1, high: 32, type: integer, scale: log2}\n"
      "  execs: {low: 1, high: 6, type: integer}\n"
      "model: quadratic\nresponses:\n  y: {goal: maximize, transform: log}\n",
      csv);
  const analysis::Analysis& analysis = study.analysis;
  REQUIRE(analysis.feasibility);
  REQUIRE(analysis.optimum);
  const double best = analysis::prediction_of(analysis.optimum->best, "y")->mean;
  const std::regex change("by [+]?([0-9.]+)");
  for (const auto& figures :
       {reports::profile_figures(analysis), reports::perturbation_figures(analysis),
        reports::interaction_figures(analysis)}) {
    for (const reports::Figure& figure : figures) {
      INFO(figure.title);
      for (std::sregex_iterator found(figure.title.begin(), figure.title.end(), change), none;
           found != none; ++found) {
        CHECK(std::stod((*found)[1]) < best);
      }
      CHECK_THAT(figure.svg, Contains("stroke=\"#8b949e\""));
      CHECK_THAT(figure.caption, Contains("a run completes with a probability below 95 %"));
    }
  }
  for (const reports::Figure& figure : reports::tornado_figures(analysis)) {
    CHECK_THAT(figure.title, Contains("one step down") && !Contains("one step up"));
    CHECK_THAT(figure.caption, Contains("–: no such step, or a run completes"));
  }
}

TEST_CASE("A title has no range from a number to the same number", "[reports][figures]") {
  // y depends on c alone: what else varies is a * b * c, which no term of the model has.
  std::string csv = "a,b,c,y\n";
  for (const int a : {-1, 1}) {
    for (const int b : {-1, 1}) {
      for (const int c : {-1, 1}) {
        csv += fmt::format("{},{},{},{}\n", a, b, c, 100 + 10 * c + a * b * c);
      }
    }
  }
  const Case study(head(kTwoFactors + "  c: {low: -1, high: 1, step: 0.5}\n", "linear"), csv);
  bool is_flat = false;
  for (const reports::Figure& figure : reports::contour_figures(study.analysis)) {
    INFO(figure.title);
    CHECK_FALSE(std::regex_search(figure.title, std::regex(" ([0-9.]+) to \\1 ")));
    if (figure.title.find(" s in all of this slice.") == std::string::npos) continue;
    is_flat = true;
    CHECK(figure.svg.find("fill=\"" + reports::viridis(0.5)) != std::string::npos);
  }
  CHECK(is_flat);
}

TEST_CASE("A search has improved only what came closer to its goal", "[reports][figures]") {
  // By both goals run 2 is better than run 1, although its y is lower.
  Case study(
      "study: example\nseed: 1\ncommand: [./run]\nfactors:\n  a: {low: -1, high: 1, step: 0.5}\n"
      "model: linear\nresponses:\n  y: {goal: maximize, low: 0, high: 100}\n"
      "  cost: {goal: minimize, low: 0, high: 10}\n",
      "a,y,cost\n-1,50,9\n-0.5,45,1\n0,20,8\n0.5,15,9\n1,5,9.5\n");
  for (study::PlannedRun& run : study.directory.plan.runs) {
    if (run.run > 1) run.type = doe::PointType::kProposed;
  }
  const std::vector<reports::Figure> figures = reports::search_figures(study.analysis);
  REQUIRE(figures.size() == 2);
  CHECK_THAT(figures[0].title,
             Contains("Run 2 is better than run 1 for all goals combined; y went from 50"));
  CHECK_THAT(figures[1].title, Contains("The search improved cost from 9") &&
                                   Contains("in run 1 to 1") && Contains("in run 2."));
}
