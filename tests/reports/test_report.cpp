#include <catch2/catch.hpp>
#include <fstream>
#include <regex>

#include "reports/documents/write_report.h"
#include "reports/page/report_page.h"
#include "reports/page/section.h"
#include "tests/analysis/example_studies.h"
#include "tests/temporary_directory.h"

using namespace doetune;
using Catch::Contains;

namespace {

int count(const std::string& text, const std::string& part) {
  int n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

/// The page without scripts and style: what is shown if scripts are blocked.
std::string static_part(std::string html) {
  for (const std::string tag : {"script", "style"}) {
    for (std::size_t at = html.find("<" + tag); at != std::string::npos;
         at = html.find("<" + tag)) {
      const std::size_t end = html.find("</" + tag + ">", at);
      REQUIRE(end != std::string::npos);
      html.erase(at, end - at + tag.size() + 3);
    }
  }
  return html;
}

struct ReportCase {
  tests::TemporaryDirectory folder;
  study::StudyDirectory directory = tests::make_fccd_study(folder.path());
  analysis::Analysis analysis = analysis::analyse(directory);
};

}  // namespace

TEST_CASE("A report is one page with its figures, under 2 MB, without links to anywhere",
          "[reports][html]") {
  const ReportCase study;
  const reports::ReportFiles files = reports::write_report(study.analysis);
  REQUIRE(files.pages == std::vector{study.directory.path / "report" / "report.html"});
  // Per response: profile, contours of 3 pairs, effects, perturbation, 3 interactions, tornado, 6
  // diagnostics. Per study: trade-off, 4 of the design.
  constexpr int kFigures = 2 * (1 + 3 + 1 + 1 + 3 + 1 + 6) + 1 + 4;
  CHECK(files.figures.size() == kFigures);
  for (const std::filesystem::path& file : files.all()) CHECK(std::filesystem::file_size(file) > 0);
  const std::string html = study::read_file(files.pages.front());
  CHECK(html.size() < 2'000'000);
  const std::string page = static_part(html);
  CHECK(count(page, "<figure") == kFigures + 1);  // one of them is for scripts only
  CHECK_FALSE(std::regex_search(page, std::regex("(src|href)=\"(https?:)?//")));
  CHECK_THAT(page, Contains("UNCONFIRMED") && Contains("Configuration to use") &&
                       Contains("within 1800 to 2500 images/s"));
  const std::string runs = page.substr(page.find("id=\"runs\""));
  CHECK(count(runs.substr(0, runs.find("</section>")), "<tr>") == 1 + 20);
}

TEST_CASE("The report as Markdown has every section and figure of the page",
          "[reports][markdown]") {
  const ReportCase study;
  const reports::ReportFiles files =
      reports::write_report(study.analysis, study.directory.report(), {"md", "json"});
  REQUIRE(files.pages.size() == 2);
  const std::string text = study::read_file(files.pages.front());
  for (const reports::Section& section : reports::shown_sections(study.analysis)) {
    CHECK_THAT(text, Contains("\n## " + std::string(section.title) + "\n"));
  }
  for (const std::filesystem::path& figure : files.figures) {
    CHECK_THAT(text, Contains("](figures/" + figure.filename().string() + ")"));
  }
  CHECK_THAT(text, Contains("**UNCONFIRMED**") && Contains("within 1800 to 2500 images/s") &&
                       Contains("| Response | Baseline | Predicted mean |") &&
                       Contains("\nas a command\n\n```\n./stream --executors 2"));
  CHECK(text.find("<svg") == std::string::npos);
}

TEST_CASE("A report says what a missing baseline leaves out", "[reports][html]") {
  const auto page_without = [](const std::string& baseline) {
    const tests::TemporaryDirectory folder;
    const study::StudyDirectory directory = tests::make_fccd_study(
        folder.path(),
        std::regex_replace(tests::fccd_study_text(), std::regex(baseline + ", baseline: 1"), "$1"));
    return static_part(reports::report_html(analysis::analyse(directory)));
  };
  CHECK_THAT(page_without("(unit: Hz)"),
             Contains("No baseline is set for decode_rate, so") && !Contains("Square: baseline"));
  CHECK_THAT(page_without("(integer|Hz)"), Contains("No baseline is set for the factors, so"));
  CHECK_THAT(page_without("(none)"),
             !Contains("No baseline is set") && Contains("Square: baseline"));
}

TEST_CASE("The configuration to copy has the server's command as well", "[reports][html]") {
  const auto report = [](const std::string& text) {
    const tests::TemporaryDirectory folder;
    const study::StudyDirectory directory = tests::make_fccd_study(
        folder.path(),
        text +
            "run: {set_up: [./serve, --executors, '{executors_per_gpu}', --port, '{port}'],"
            " ready: 'http://{host}:{port}/health'}\n");
    const reports::ReportFiles files =
        reports::write_report(analysis::analyse(directory), directory.report(), {"md"});
    return study::read_file(files.pages.front());
  };
  const std::string server =
      "\nas the server's command\n\n```\n./serve --executors 2 --port '{port}'";
  CHECK_THAT(report(tests::fccd_study_text()),
             Contains(server) && Contains("\n./stream --executors 2"));
  // A bundled workload does not have what only the server reads.
  CHECK_THAT(report(std::regex_replace(tests::fccd_study_text(), std::regex("command: .*"),
                                       "workload: serving-load")),
             Contains(server) && Contains("\ndoetune workload serving-load --batch_size "));
}

TEST_CASE("A configuration misses a goal only where the study states the limit",
          "[reports][html]") {
  // The baseline is outside the region, and gives less than anything in it.
  const auto misses = [](const std::string& goal) {
    std::string text = tests::fccd_study_text() + "constraints: [\"executors_per_gpu > 1.5\"]\n";
    text = std::regex_replace(text, std::regex("goal: within, low: 1800, high: 2500"), goal);
    text = std::regex_replace(text, std::regex(", goal: within, low: 0.5, high: 1.0"), "");
    const tests::TemporaryDirectory folder;
    const study::StudyDirectory directory = tests::make_fccd_study(folder.path(), text);
    return count(static_part(reports::report_html(analysis::analyse(directory))), ">✗ ");
  };
  CHECK(misses("goal: maximize") == 0);
  CHECK(misses("goal: maximize, low: 1800") == 1);
}

TEST_CASE("Names and reasons are text, whatever they hold", "[reports][html]") {
  const std::string evil = "</script><img src=x onerror=alert(1)>\"'&<!-- \x01\xff";
  ReportCase study;
  study.directory.study.name = evil;
  study.directory.study.factors[0].name = evil;
  study.directory.study.factors[0].unit = evil;
  study.analysis.responses[0].response.unit = evil;
  study.analysis.records.at(3).status = study::RunStatus::kFailed;
  study.analysis.records.at(3).reason = evil;
  study.analysis.records.at(4).host = evil;
  study.analysis.warnings.push_back(evil);
  const reports::Report report = reports::make_report(study.analysis);
  CHECK(count(report.html, "<img") == 0);
  // There are no script elements except the page's own, and each is closed once.
  CHECK(count(report.html, "</script>") == count(report.html, "<script"));
  for (const reports::Figure& figure : report.figures) {
    CHECK(figure.svg.find("<img") == std::string::npos);
    CHECK(figure.svg.find("<!--") == std::string::npos);
    CHECK(figure.name.find_first_of("/<>&\" ") == std::string::npos);
  }
}

TEST_CASE("A study without any run has a report that says so", "[reports][html]") {
  ReportCase study;
  study.analysis = analysis::Analysis{};
  study.analysis.directory = &study.directory;
  for (const study::Response& response : study.directory.study.responses) {
    study.analysis.responses.push_back({response, {}, "no completed runs", {}});
  }
  const std::string page = static_part(reports::report_html(study.analysis));
  CHECK_THAT(page, Contains("PARTIAL") && Contains("No run has completed yet") &&
                       Contains("doetune run") && Contains("not run"));
  CHECK(count(page, "<figure") == count(page, "<figure id=\"design-"));
}

TEST_CASE("A response without a fit is reported beside one with", "[reports][html]") {
  ReportCase study;
  study.analysis.responses[1].fit.reset();
  study.analysis.responses[1].problem = "a response is not a finite number";
  study.analysis.optimum.reset();
  study.analysis.optimum_problem = "processing_time has a goal but no surface";
  const std::string page = static_part(reports::report_html(study.analysis));
  CHECK_THAT(page, Contains("PARTIAL") && Contains("processing_time has a goal but no surface") &&
                       Contains("contour-throughput") && !Contains("contour-processing_time"));
}

TEST_CASE("A saturated fit is reported without intervals or diagnostics", "[reports][html]") {
  ReportCase study;
  for (analysis::ResponseAnalysis& response : study.analysis.responses) {
    surfaces::Fit& fit = *response.fit;
    fit.sigma.reset();
    fit.df_residual = 0;
    fit.adjusted_r2.reset();
    fit.predicted_r2.reset();
    fit.lack_of_fit.reset();
    for (surfaces::Coefficient& c : fit.coefficients) c.std_error.reset();
  }
  for (surfaces::ResponsePrediction& predicted : study.analysis.optimum->best.predictions) {
    predicted.confidence_interval.reset();
    predicted.prediction_interval.reset();
    predicted.goal_met_probability.reset();
  }
  study.analysis.optimum->best.all_goals_met_probability.reset();
  const std::string page = static_part(reports::report_html(study.analysis));
  CHECK_THAT(page, Contains("not available") && !Contains(">nan") && !Contains(" nan ") &&
                       !Contains("id=\"normal-"));
}

TEST_CASE("A report bears 50 factors, markup in names, and responses without news",
          "[reports][html][long]") {
  const tests::TemporaryDirectory folder;
  const study::StudyDirectory directory = tests::make_odd_study(folder.path());
  const analysis::Analysis analysis = analysis::analyse(directory);
  const reports::Report report = reports::make_report(analysis);
  CHECK(count(report.html, "<img") == 0);
  CHECK(count(static_part(report.html), "<u>") == 0);
  CHECK(report.html.size() < 2'000'000);
  CHECK_THAT(static_part(report.html),
             Contains("no completed run has measured it") && Contains(">10M<"));
  // Only few of 49 * 48 / 2 pairs of numeric factors are drawn.
  const auto contours = std::count_if(
      report.figures.begin(), report.figures.end(),
      [](const reports::Figure& figure) { return figure.name.starts_with("contour-"); });
  CHECK(contours <= 12);
  // A command without factors cannot show the settings.
  CHECK(count(static_part(report.html), "settings as a command") == 0);
  // Sentences do not list them all either.
  CHECK_THAT(static_part(report.html), Contains("more factors changed: ") &&
                                           Contains("factor_number_8 and 41 more factors lie"));
}

TEST_CASE("A folder that cannot be written is named", "[reports][html]") {
  const ReportCase study;
  const std::filesystem::path file = study.folder.path() / "file";
  std::ofstream(file) << "in the way";
  CHECK_THROWS_WITH(reports::write_report(study.analysis, file / "report"),
                    Contains(file.string()) && Contains("cannot be made"));
}
