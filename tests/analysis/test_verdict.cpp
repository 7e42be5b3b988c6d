#include <fmt/format.h>
#include <fmt/ranges.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <nlohmann/json.hpp>

#include "analysis/analysis.h"
#include "analysis/best_run.h"
#include "analysis/limit_confidence.h"
#include "analysis/today.h"
#include "analysis/trust.h"
#include "analysis/verdict.h"
#include "reports/json/analysis_json.h"
#include "study/directory/import.h"
#include "study/directory/journal.h"
#include "tests/analysis/example_studies.h"
#include "tests/temporary_directory.h"

using namespace doetune;
using Catch::Contains;
using Catch::StartsWith;

namespace {

struct VerdictCase {
  tests::TemporaryDirectory folder;
  study::StudyDirectory directory;
  analysis::Analysis analysis;

  explicit VerdictCase(const std::string& study_text = tests::fccd_study_text())
      : directory(tests::make_fccd_study(folder.path(), study_text)),
        analysis(analysis::analyse(directory)) {}
};

/// Nine imported runs over two factors, all with the same values of y and z.
struct Imported {
  tests::TemporaryDirectory folder;
  study::StudyDirectory directory;
  analysis::Analysis analysis;

  Imported(const std::string& responses, const std::string& cells)
      : directory(import(folder.path(), responses, cells)),
        analysis(analysis::analyse(directory)) {}

  static study::StudyDirectory import(const std::filesystem::path& folder,
                                      const std::string& responses, const std::string& cells) {
    const std::filesystem::path table = folder / "runs.csv";
    std::ofstream csv(table);
    csv << "a,b,y,z\n";
    for (const int a : {0, 1, 2}) {
      for (const int b : {0, 1, 2}) csv << a << ',' << b << ',' << cells << '\n';
    }
    csv.close();
    const std::string text =
        "factors: {a: {low: 0, high: 2}, b: {low: 0, high: 2}}\nresponses:\n  " + responses + "\n";
    return study::import_runs(study::parse_study(text, folder / "s.yaml"), table, folder / "s",
                              true);
  }
};

std::string replaced(std::string text, const std::string& old, const std::string& replacement) {
  const std::size_t at = text.find(old);
  REQUIRE(at != std::string::npos);
  return text.replace(at, old.size(), replacement);
}

}  // namespace

TEST_CASE("Settings that meet all goals await their confirmation", "[reports][verdict]") {
  const VerdictCase published;
  const analysis::Verdict verdict = analysis::verdict(published.analysis);
  CHECK(verdict.status == analysis::Status::kUnconfirmed);
  CHECK_THAT(verdict.headline, Contains("meet both goals"));
  CHECK(verdict.next_command == "doetune confirm " + published.directory.path.string());
  CHECK(verdict.caveats.size() <= 3);
}

TEST_CASE("Goals that no settings meet are named", "[reports][verdict]") {
  const VerdictCase impossible(
      replaced(tests::fccd_study_text(), "low: 1800, high: 2500", "low: 9000, high: 9500"));
  const analysis::Verdict verdict = analysis::verdict(impossible.analysis);
  CHECK(verdict.status == analysis::Status::kInfeasible);
  CHECK_THAT(verdict.headline, Contains("miss") && Contains("throughput"));
}

TEST_CASE("Where a limit cannot be met, the next command has one that can", "[reports][verdict]") {
  const std::string text = replaced(tests::fccd_study_text(), "goal: within, low: 1800, high: 2500",
                                    "goal: at_least, low: 9000");
  const VerdictCase impossible(text);
  const std::string next = analysis::verdict(impossible.analysis).next_command;
  const std::size_t at = next.find("throughput=at_least:");
  REQUIRE(at != std::string::npos);
  const double limit = std::stod(next.substr(at + 20));
  CHECK(limit < 9000);
  const VerdictCase possible(replaced(text, "low: 9000", fmt::format("low: {}", limit)));
  CHECK(possible.analysis.optimum->feasible);
}

TEST_CASE("Where every run failed, the page says how", "[reports][verdict]") {
  VerdictCase failed;
  for (auto& [run, record] : failed.analysis.records) {
    record.status = study::RunStatus::kFailed;
    record.reason = "ended replaced code 3";
    record.responses.clear();
  }
  for (analysis::ResponseAnalysis& response : failed.analysis.responses) response.fit.reset();
  CHECK(analysis::verdict(failed.analysis).headline ==
        "20 runs were tried, and none has completed. Failed: ended replaced code 3.");
}

TEST_CASE("Ramps that no settings reach are named, not called the answer", "[reports][verdict]") {
  const VerdictCase worthless(replaced(tests::fccd_study_text(),
                                       "goal: within, low: 1800, high: 2500",
                                       "goal: maximize, low: 9000, high: 9500"));
  const analysis::Verdict verdict = analysis::verdict(worthless.analysis);
  CHECK(verdict.status == analysis::Status::kInfeasible);
  CHECK_THAT(verdict.headline,
             Contains("reach the low end of throughput (9") && Contains("comes nearest"));
}

TEST_CASE("Where today's settings are best already, nothing is to be confirmed",
          "[reports][verdict]") {
  const std::string text =
      replaced(tests::fccd_study_text(), "goal: within, low: 1800, high: 2500", "goal: maximize");
  const VerdictCase first(text);
  const std::vector<double>& best = first.analysis.optimum->best.settings;
  std::string at_best = replaced(text, "type: integer, baseline: 1}",
                                 fmt::format("type: integer, baseline: {}}}", best[0]));
  at_best = replaced(at_best, "high: 15, type: integer, baseline: 1}",
                     fmt::format("high: 15, type: integer, baseline: {}}}", best[1]));
  at_best =
      replaced(at_best, "unit: Hz, baseline: 1}", fmt::format("unit: Hz, baseline: {}}}", best[2]));
  VerdictCase again(at_best);
  REQUIRE(again.analysis.optimum->best.settings == best);
  const analysis::Verdict verdict = analysis::verdict(again.analysis);
  CHECK(verdict.status == analysis::Status::kNoGain);
  CHECK_THAT(verdict.headline,
             StartsWith("The baseline is already the configuration that is predicted"));
  CHECK(verdict.next_command.empty());
  CHECK_THAT(verdict.next_reason, Contains("keep the baseline"));
  // Surfaces with poor predictions do not exclude a gain.
  again.analysis.responses[0].fit->predicted_r2 = -1.5;
  CHECK(analysis::verdict(again.analysis).status == analysis::Status::kUnconfirmed);
  CHECK_THAT(analysis::verdict(again.analysis).next_command, StartsWith("doetune augment"));
}

TEST_CASE("Where no factor changes anything, no settings are called best", "[reports][verdict]") {
  const Imported alike("y: {goal: maximize}\n  z: {goal: at_most, high: 5}", "1,2");
  const analysis::Verdict verdict = analysis::verdict(alike.analysis);
  CHECK(verdict.status == analysis::Status::kNoGain);
  CHECK_THAT(verdict.headline, Contains("These runs show no effect of any factor on y and z"));
  for (const std::string& caveat : verdict.caveats) CHECK_THAT(caveat, !Contains("range"));
}

TEST_CASE("A response that was never measured takes no other's goal away", "[reports][verdict]") {
  const Imported half("y: {goal: maximize}\n  z: {goal: at_most, high: 5}", ",2");
  REQUIRE(half.analysis.goals.contains("z"));
  CHECK(half.analysis.goals.at("z").high == 5);
  const analysis::Verdict verdict = analysis::verdict(half.analysis);
  CHECK(verdict.status == analysis::Status::kPartial);
  CHECK_THAT(verdict.headline, Contains("y has a goal but no surface"));
  CHECK(verdict.next_command.empty());
  CHECK_THAT(verdict.next_reason, StartsWith("measure y"));
}

TEST_CASE("What the plan measured at today's settings is known", "[reports][verdict]") {
  const VerdictCase published;  // its run at 1, 1 and 1 Hz: 1062 images/s in 1.00 s
  const auto today = analysis::measured_today(published.analysis, published.analysis.responses[0]);
  REQUIRE(today);
  CHECK(today->runs == 1);
  CHECK(today->mean.response() == 1062);
}

TEST_CASE("A study without goals has surfaces but no best settings", "[reports][verdict]") {
  std::string text =
      replaced(tests::fccd_study_text(), ", goal: within, low: 1800, high: 2500", "");
  text = replaced(text, ", goal: within, low: 0.5, high: 1.0", "");
  CHECK(analysis::verdict(VerdictCase(text).analysis).status == analysis::Status::kNoGoals);
}

TEST_CASE("Missing runs make the answer partial", "[reports][verdict]") {
  VerdictCase partial;
  partial.analysis.records.erase(20);
  const analysis::Verdict verdict = analysis::verdict(partial.analysis);
  CHECK(verdict.status == analysis::Status::kPartial);
  CHECK(verdict.next_command == "doetune run " + partial.directory.path.string());
  CHECK_THAT(verdict.caveats.front(), Contains("1 of 20 planned runs has not been made"));
}

TEST_CASE("Where every run failed, one of them is to be looked at", "[reports][verdict]") {
  VerdictCase failed;
  for (auto& [run, record] : failed.analysis.records) {
    record.status = study::RunStatus::kFailed;
    record.responses.clear();
  }
  for (analysis::ResponseAnalysis& response : failed.analysis.responses) response.fit.reset();
  CHECK(analysis::verdict(failed.analysis).next_command ==
        "doetune check " + failed.directory.path.string());
  failed.analysis.records.erase(20);  // the others would fail in the same way
  CHECK(analysis::verdict(failed.analysis).next_command ==
        "doetune check " + failed.directory.path.string());
}

TEST_CASE("Before the first run one caveat is enough", "[reports][verdict]") {
  VerdictCase empty;
  empty.analysis.records.clear();
  empty.analysis.optimum.reset();
  for (analysis::ResponseAnalysis& response : empty.analysis.responses) response.fit.reset();
  CHECK(analysis::verdict(empty.analysis).caveats ==
        std::vector<std::string>{"20 of 20 planned runs have not been made."});
}

TEST_CASE("Surfaces replaced the same fault share a caveat", "[reports][verdict]") {
  // Lack of fit of the published study is significant for both responses (p = 0.012 and 0.00028).
  const VerdictCase published;
  const analysis::Verdict verdict = analysis::verdict(published.analysis);
  int about_lack = 0;
  for (const std::string& caveat : verdict.caveats) {
    if (caveat.find("lack of fit") == std::string::npos) continue;
    ++about_lack;
    CHECK_THAT(caveat, Contains("The surfaces of throughput (p = 0.012) and processing_time (p = "
                                "0.00028) show lack of fit"));
  }
  CHECK(about_lack == 1);
}

TEST_CASE("A headline has no more digits than are known", "[reports][verdict]") {
  const VerdictCase fastest(
      replaced(tests::fccd_study_text(), "goal: within, low: 1800, high: 2500", "goal: maximize"));
  const std::string headline = analysis::verdict(fastest.analysis).headline;
  CHECK_THAT(headline, Contains(" images/s)") && Contains("meet the limit on processing_time"));
  // The only full stop before the end is that of the sentence.
  CHECK(headline.find('.') == headline.find(". The confidence wanted"));
}

TEST_CASE("A fit is trusted by what it predicts and by its lack of fit", "[reports][verdict]") {
  surfaces::Fit fit;
  fit.df_residual = 10;
  CHECK(analysis::trust(fit).level == analysis::Trust::Level::kUnknown);
  fit.predicted_r2 = 0.9;
  fit.lack_of_fit_problem = "replicated runs agree exactly";
  CHECK(analysis::trust(fit).level == analysis::Trust::Level::kGood);
  CHECK_THAT(analysis::trust(fit).sentence, Contains("(replicated runs agree exactly)"));
  fit.lack_of_fit = surfaces::LackOfFit{5, 5, 12.0, 0.01};
  CHECK(analysis::trust(fit).level == analysis::Trust::Level::kCare);
  fit.predicted_r2 = 0.3;
  CHECK(analysis::trust(fit).level == analysis::Trust::Level::kPoor);
}

TEST_CASE("What speaks against a fit is said replaced its remedy", "[reports][verdict]") {
  // The published study: lack of fit is significant for both responses (p = 0.012 and 0.00028).
  const VerdictCase published;
  const auto found = analysis::findings(published.analysis.responses[0]);
  REQUIRE_FALSE(found.empty());
  CHECK(found.front().weight == analysis::Finding::Weight::kGrave);
  CHECK_THAT(found.front().sentence, Contains("Lack of fit (p = 0.012)"));
  CHECK_THAT(found.front().remedy, Contains("doetune augment --runs"));

  analysis::ResponseAnalysis response = published.analysis.responses[0];
  response.diagnostics.drift = surfaces::DriftTest{-0.5, 0.1, -5, 0.0002};
  response.diagnostics.runs[3].outlier = true;
  response.diagnostics.runs[3].outlier_p = 1e-6;
  response.diagnostics.runs[3].influential = false;
  std::string all;
  for (const auto& finding : analysis::findings(response)) all += finding.sentence + "\n";
  CHECK_THAT(all, Contains("Residuals fall in run order (p = 0.0002)"));
  CHECK_THAT(all, Contains(fmt::format("Run {} lies farther", response.runs[3])));
  response.fit->df_residual = 0;
  CHECK_THAT(analysis::findings(response).front().sentence, Contains("as many terms"));
  response.fit.reset();
  CHECK(analysis::findings(response).empty());
}

TEST_CASE("Where most runs were infeasible, another model gives the answer", "[reports][verdict]") {
  tests::TemporaryDirectory folder;
  const std::filesystem::path table = folder.path() / "runs.csv";
  std::ofstream csv(table);
  csv << "a,b,y,status\n";
  for (const int a : {0, 1, 2}) {
    for (const int b : {0, 1, 2}) {
      const bool fits = a + b <= 2 && a * b < 1;
      csv << a << ',' << b << ',' << (fits ? std::to_string(10 + 3 * a + b) : "") << ','
          << (fits ? "completed" : "infeasible") << '\n';
    }
  }
  csv.close();
  const study::Study study = study::parse_study(
      "factors: {a: {low: 0, high: 2}, b: {low: 0, high: 2}}\nresponses: {y: {goal: maximize}}\n",
      folder.path() / "s.yaml");
  const auto directory = study::import_runs(study, table, folder.path() / "s", true);
  const auto analysis = analysis::analyse(directory);  // 5 runs on the axes, 6 coefficients
  REQUIRE(analysis.responses[0].fallback);
  REQUIRE(analysis.optimum);
  CHECK(analysis.optimum_problem.empty());
  CHECK_FALSE(analysis.measured);
  const analysis::Verdict verdict = analysis::verdict(analysis);
  CHECK_THAT(
      verdict.headline,
      Contains("This rests on a different model from the one planned (linear), because 5 completed "
               "runs do not determine the 6 coefficients of the quadratic model."));
  CHECK_THAT(fmt::format("{}", fmt::join(verdict.caveats, " ")),
             Contains("A different model from the one planned is fitted to y (linear)"));
  CHECK_THAT(verdict.next_command, StartsWith("doetune augment"));
  const auto json = nlohmann::json::parse(reports::optimum_json(analysis));
  CHECK(json.at("fallbacks").at("y").at("model") == "linear");
  CHECK(nlohmann::json::parse(reports::fit_json(analysis))
            .at("responses")
            .at("y")
            .at("fallback")
            .at("model") == "linear");
}

// One ramp and limits: which run is best does not depend on where the ramp ends.
TEST_CASE("Runs are read without surfaces, and the best is the one of the whole analysis",
          "[reports][verdict]") {
  const VerdictCase whole;
  const auto read = analysis::read_runs(whole.directory);
  CHECK(read.completed() == whole.analysis.completed());
  for (const auto& response : read.responses) CHECK(response.surface() == nullptr);
  CHECK_FALSE(read.optimum);
  REQUIRE(read.measured);
  const auto best = analysis::best_measured_run(whole.analysis);
  REQUIRE(best);
  CHECK(read.measured->run == best->run);
  CHECK(read.measured->meets_limits == best->meets_limits);
}

TEST_CASE("Where no surface can be fitted, the best measured run is the answer",
          "[reports][verdict]") {
  VerdictCase few;
  for (auto& [run, record] : few.analysis.records) {
    if (run <= 2) continue;
    record.status = study::RunStatus::kInfeasible;
    record.responses.clear();
  }
  std::vector<study::RunRecord> records;
  for (const auto& [run, record] : few.analysis.records) records.push_back(record);
  std::filesystem::remove(few.directory.journal());
  study::write_journal(few.directory, records);
  const auto analysis = analysis::analyse(few.directory);
  CHECK_FALSE(analysis.optimum);
  CHECK(analysis.optimum_problem.empty());
  REQUIRE(analysis.measured);
  const auto best = analysis::best_measured_run(analysis);
  REQUIRE(best);
  CHECK(analysis.measured->run == best->run);
  CHECK(analysis.measured->meets_limits == best->meets_limits);
  const analysis::Verdict verdict = analysis::verdict(analysis);
  CHECK(verdict.status == analysis::Status::kPartial);
  CHECK_THAT(verdict.headline, StartsWith("No optimum can be predicted from 2 completed runs. Of "
                                          "the measured runs run ") &&
                                   Contains("throughput") && Contains("the limits on"));
  CHECK_THAT(verdict.next_command, StartsWith("doetune augment"));
  const auto json = nlohmann::json::parse(reports::optimum_json(analysis));
  CHECK(json.at("measured").at("run") == best->run);
  CHECK(json.at("measured").at("settings").size() == 3);
  CHECK(json.at("measured").at("responses").contains("throughput"));
  CHECK_THAT(json.at("reason").get<std::string>(), Contains("no surface"));
}

TEST_CASE("A run that was not executed is no evidence of where runs complete",
          "[reports][feasibility]") {
  VerdictCase study;
  const auto written = [&](bool executed) {
    std::vector<study::RunRecord> records;
    for (auto [run, record] : study.analysis.records) {
      if (run == 1 || run == 2) {
        record.status = study::RunStatus::kInfeasible;
        record.responses.clear();
      }
      if (run == 2 && !executed) record.same_as = 1;
      records.push_back(record);
    }
    std::filesystem::remove(study.directory.journal());
    study::write_journal(study.directory, records);
    return analysis::analyse(study.directory);
  };
  REQUIRE(written(true).feasibility);
  CHECK(written(true).feasibility->infeasible == 2);
  CHECK(written(false).feasibility->infeasible == 1);
}

TEST_CASE("A limit is met with the confidence wanted by what is promised of chosen settings",
          "[reports][verdict]") {
  const auto analysed = [](const std::string& confidence, const std::filesystem::path& folder) {
    const std::filesystem::path table = folder / "runs.csv";
    std::ofstream(table) << "a,b,y,z\n0,0,8.829,3.019\n0,1,8.693,4.144\n1,0,13.747,4.979\n"
                            "1,1,14.004,6.022\n0.5,0.5,12.451,4.548\n0.5,0,10.773,3.977\n"
                            "1,0.5,14.942,5.444\n";
    const study::Study study = study::parse_study(
        "factors: {a: {low: 0, high: 1}, b: {low: 0, high: 1}}\n"
        "responses: {y: {goal: maximize}, z: {goal: at_most, high: 4" +
            confidence + "}}\n",
        folder / "s.yaml");
    return study::import_runs(study, table, folder / "s", true);
  };
  tests::TemporaryDirectory folder;
  SECTION("where settings reach it, they are chosen") {
    // By the surface alone 0.28, 0.25, which the posterior promises 40 %.
    const auto directory = analysed("", folder.path());
    const auto analysis = analysis::analyse(directory);
    const auto limit = analysis::limit_confidence(analysis, "z");
    REQUIRE(limit);
    CHECK(limit->wanted == 0.9);
    CHECK(limit->probability >= 0.9);
    CHECK(limit->word() == "yes");
    CHECK_THAT(analysis::verdict(analysis).headline, !Contains("confidence wanted"));
  }
  SECTION("where none reach it, the headline says so") {
    const auto directory = analysed(", confidence: 0.99", folder.path());
    const auto analysis = analysis::analyse(directory);
    const auto limit = analysis::limit_confidence(analysis, "z");
    REQUIRE(limit);
    CHECK(limit->probability < 0.99);
    CHECK(limit->word() == "likely");
    CHECK_THAT(analysis::verdict(analysis).headline,
               Contains("The confidence wanted is not reached for the limit on z"));
  }
}

TEST_CASE("Of goals that cannot be met, the limits are named", "[reports][verdict]") {
  // The settings with the least z have the least y: its desirability is 0, but y is no limit.
  tests::TemporaryDirectory folder;
  const std::filesystem::path table = folder.path() / "runs.csv";
  std::ofstream csv(table);
  csv << "a,b,y,z\n";
  for (const int a : {0, 1, 2}) {
    for (const int b : {0, 1, 2}) csv << a << ',' << b << ',' << 5 + a << ',' << 3 + a + b << '\n';
  }
  csv.close();
  const study::Study study = study::parse_study(
      "factors: {a: {low: 0, high: 2}, b: {low: 0, high: 2}}\n"
      "responses: {y: {goal: maximize}, z: {goal: at_most, high: 2}}\n",
      folder.path() / "s.yaml");
  const auto directory = study::import_runs(study, table, folder.path() / "s", true);
  CHECK_THAT(analysis::verdict(analysis::analyse(directory)).headline,
             Contains("comes nearest and misses z."));
}

TEST_CASE("What single runs are expected to give has no level without an interval",
          "[reports][verdict]") {
  tests::TemporaryDirectory folder;
  const std::filesystem::path table = folder.path() / "runs.csv";
  std::ofstream(table) << "a,b,y\n0,0,1\n1,0,2\n0,1,2\n";  // as many as coefficients
  const study::Study study = study::parse_study(
      "factors: {a: {low: 0, high: 1}, b: {low: 0, high: 1}}\nmodel: linear\n"
      "responses: {y: {goal: maximize}}\n",
      folder.path() / "s.yaml");
  const auto directory = study::import_runs(study, table, folder.path() / "s", true);
  const auto preferred = analysis::preference(analysis::analyse(directory));
  REQUIRE(preferred);
  CHECK_THAT(preferred->reason, Contains("expected to be better (y 3)."));
}

TEST_CASE("A level that never ran leaves an answer among those that did", "[analysis][verdict]") {
  const tests::TemporaryDirectory folder;
  const auto table = folder.path() / "runs.csv";
  std::ofstream csv(table);
  csv << "p,b,y\n";
  for (const int b : {1, 4, 8, 12, 16, 20}) {
    csv << "fp32," << b << ',' << 50 + 3 * b - 0.1 * b * b << '\n';
    csv << "bf16," << b << ',' << 60 + 3 * b - 0.1 * b * b + 0.1 * (b % 3) << '\n';
  }
  csv.close();
  const auto study = study::parse_study(
      "factors: {p: {levels: [int8, fp32, bf16]}, b: {low: 1, high: 20}}\n"
      "responses: {y: {goal: maximize}}\n",
      folder.path() / "s.yaml");
  const auto directory = study::import_runs(study, table, folder.path() / "s", true);
  const analysis::Analysis analysis = analysis::analyse(directory);
  REQUIRE(analysis.optimum);
  CHECK(analysis.optimum->best.settings[0] == 2);  // bf16
  REQUIRE(analysis.responses[0].fallback);
  CHECK(analysis.responses[0].fallback->model == "gaussian-process");
  CHECK(analysis.responses[0].problem.empty());
  CHECK_THAT(analysis.responses[0].fallback->reason, Contains("'int8'"));
  CHECK_THAT(analysis::verdict(analysis).next_command, StartsWith("doetune confirm "));
}
