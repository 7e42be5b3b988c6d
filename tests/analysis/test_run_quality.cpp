// Quality of runs: bottlenecks, flags and outliers, from made-up records.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <fstream>

#include "analysis/conditions.h"
#include "analysis/run_quality.h"
#include "reports/page/report_page.h"
#include "tests/analysis/example_studies.h"
#include "tests/temporary_directory.h"

using namespace doetune;
using Catch::Contains;

namespace {

/// Twelve completed runs: eight limited by the host CPU, three by the GPU, one without a
/// bottleneck.
analysis::Records twelve_runs() {
  analysis::Records records;
  for (int run = 1; run <= 12; ++run) {
    study::RunRecord& record = records[run];
    record.run = run;
    record.status = study::RunStatus::kCompleted;
    record.bottleneck = run <= 8 ? "host_cpu" : run <= 11 ? "gpu_compute" : "none_found";
    record.evidence = "the assigned cores were 97 % busy";
  }
  return records;
}

void write_conditions(const std::filesystem::path& study, const std::string& id,
                      const std::string& driver, const std::string& more = "") {
  std::filesystem::create_directories(study / "conditions");
  std::ofstream(study / "conditions" / (id + ".json"))
      << R"({"conditions_id": ")" << id << R"(", "source": {"revision": "0123456789abcdef",)"
      << R"("dirty": true}, "cpu": {"model": "EPYC", "usable": 16}, "gpu_driver": {"version": ")"
      << driver << R"("}, "gpus": [{"name": "H200", "uuid": "GPU-)" << id << R"("}],)"
      << R"("environment": {"set": {}, "inherited": {"PWD": ")" << id << "\"}}" << more << "}";
}

struct QualityCase {
  tests::TemporaryDirectory folder;
  study::StudyDirectory directory = tests::make_fccd_study(folder.path());
  analysis::Analysis analysis = analysis::analyse(directory);
};

}  // namespace

TEST_CASE("Runs are counted by what limited them", "[reports][quality]") {
  analysis::Records records = twelve_runs();
  CHECK(analysis::bottleneck_sentence(records) ==
        "8 of 12 runs limited by the host CPU, 3 by GPU compute; in 1 run nothing measured "
        "was near its limit");
  for (auto& [run, record] : records) record.bottleneck.clear();
  CHECK(analysis::bottleneck_sentence(records).empty());
  CHECK(analysis::bottleneck_words("a verdict of tomorrow") == "a verdict of tomorrow");
}

TEST_CASE("Flags that differ in numbers alone are one", "[reports][quality]") {
  analysis::Records records = twelve_runs();
  records[3].flags = {"other programs used 23 % of the assigned cores"};
  records[7].flags = {"other programs used 8 % of the assigned cores", "y is known to 2.5 %"};
  records[9].flags = {"other programs used 90 % of the assigned cores"};
  records[9].status = study::RunStatus::kFailed;  // not part of any fit
  const auto flags = analysis::runs_by_flag(records);
  REQUIRE(flags.size() == 2);
  CHECK(flags[0].what == "other programs used 8 to 23 % of the assigned cores");
  CHECK(flags[0].runs == std::vector<int>{3, 7});
  CHECK(flags[1].runs == std::vector<int>{7});
  CHECK(analysis::flagged_runs(records) == std::vector<int>{3, 7});
  CHECK_FALSE(analysis::is_of_many(flags[0], records));  // 2 of 11
  CHECK_FALSE(analysis::is_of_many({"", {1, 2}}, records));
  CHECK(analysis::is_of_many({"", {1, 2, 3}}, records));  // 3 of 11 are more than a quarter
}

TEST_CASE("Runs that did not complete are grouped by how they ended", "[reports][quality]") {
  analysis::Records records = twelve_runs();
  for (const int run : {2, 3, 4}) {
    records[run].status = study::RunStatus::kFailed;
    records[run].reason = fmt::format("exit code 3: no file /tmp/{}", run);
  }
  records[1].status = study::RunStatus::kInfeasible;
  records[1].reason = "out of memory";
  const auto ends = analysis::runs_by_end(records);
  REQUIRE(ends.size() == 2);
  CHECK(ends[0].what == "failed: exit code 3: no file /tmp/4");  // that of the last run
  CHECK(ends[0].runs == std::vector<int>{2, 3, 4});
  CHECK(ends[1].what == "infeasible: out of memory");
  CHECK(ends[1].runs == std::vector<int>{1});
}

TEST_CASE("An outlying run and a disturbed one stand out, a flag of most runs does not",
          "[reports][quality]") {
  QualityCase study;
  for (analysis::ResponseAnalysis& response : study.analysis.responses) {
    for (surfaces::RunInfluence& run : response.diagnostics.runs) run.outlier = false;
  }
  CHECK(analysis::outlying_runs(study.analysis).empty());
  study.analysis.records.at(9).flags = {"other programs used 23 % of the assigned cores"};
  for (auto& [run, record] : study.analysis.records) {
    if (run > 4) record.flags.push_back("only 3 readings lie in the measured window");
  }
  analysis::ResponseAnalysis& response = study.analysis.responses[0];
  response.diagnostics.runs[11].outlier = true;  // the row of run 12
  const auto outlying = analysis::outlying_runs(study.analysis);
  REQUIRE(outlying.size() == 2);
  CHECK(outlying[0].run == 12);
  CHECK(outlying[0].is_outlier);
  CHECK_THAT(outlying[0].reasons[0], Contains("throughput: outlier, residual"));
  CHECK(outlying[1].run == 9);
  CHECK_FALSE(outlying[1].is_outlier);
  const auto findings = analysis::run_findings(study.analysis);
  REQUIRE(findings.size() == 2);
  CHECK(findings[0].sentence ==
        "Runs 5 to 20 are flagged: only 3 readings lie in the measured window");
  CHECK_THAT(findings[0].remedy, !Contains("--rerun"));
  CHECK_THAT(findings[1].remedy,
             Contains("`doetune run " + study.directory.path.string() + " --rerun 9`"));
}

TEST_CASE("Conditions state what differs and between which runs", "[reports][quality]") {
  const tests::TemporaryDirectory folder;
  write_conditions(folder.path(), "aa", "535.1");
  write_conditions(folder.path(), "bb", "550.2");
  analysis::Records records = twelve_runs();
  for (auto& [run, record] : records) {
    record.conditions = run < 3 ? "aa" : "bb";
    record.host = "n1";
  }
  const auto conditions = analysis::run_conditions(folder.path(), records);
  REQUIRE(conditions.size() == 2);
  CHECK(analysis::conditions_text(conditions[0]) ==
        "n1: 1 x H200, driver 535.1; EPYC, 16 processors; git revision 0123456789ab with "
        "uncommitted changes");
  CHECK(analysis::condition_differences(conditions) ==
        std::vector<std::string>{"gpu driver version: 535.1 (runs 1 and 2), 550.2 (runs 3 to 12)"});
  write_conditions(folder.path(), "bb", "535.1");  // only GPU UUID and PWD differ
  CHECK(analysis::condition_differences(analysis::run_conditions(folder.path(), records)) ==
        std::vector<std::string>{"environment: PWD"});
}

TEST_CASE("Damaged, missing and misplaced conditions are no conditions", "[reports][quality]") {
  const tests::TemporaryDirectory folder;
  write_conditions(folder.path(), "aa", "535.1", "damaged");
  std::ofstream(folder.path() / "secret.json") << R"({"gpus": [{"name": "secret"}]})";
  analysis::Records records = twelve_runs();
  records[1].conditions = "aa";
  records[2].conditions = "cc";
  records[3].conditions = "../secret";
  const auto conditions = analysis::run_conditions(folder.path(), records);
  REQUIRE(conditions.size() == 3);
  for (const analysis::RunConditions& one : conditions) CHECK(one.document.is_null());
  CHECK(analysis::condition_differences(conditions).empty());
  std::ofstream(folder.path() / "conditions/aa.json") << R"({"gpus": 3, "cpu": [], "source": ""})";
  CHECK(analysis::conditions_text(analysis::run_conditions(folder.path(), records)[0]).empty());
}

TEST_CASE("The page states what limited the runs, where they ran and what is in doubt",
          "[reports][quality]") {
  QualityCase study;
  write_conditions(study.directory.path, "aa", "535.1");
  write_conditions(study.directory.path, "bb", "550.2");
  for (auto& [run, record] : study.analysis.records) {
    record.bottleneck = run <= 12 ? "host_cpu" : "gpu_compute";
    record.evidence = "<the cores> were 97 % busy";
    record.host = "n1";
    record.gpu = "3";
    record.attempt = run == 5 ? 2 : 1;
    record.conditions = run == 20 ? "bb" : "aa";
  }
  study.analysis.records.at(7).flags = {"other programs used 23 % of the assigned cores"};
  const std::string page = reports::report_html(study.analysis);
  CHECK_THAT(page, Contains("12 of 20 runs limited by the host CPU, 8 by GPU compute") &&
                       Contains("20 of 20 planned runs completed, 1 of them flagged") &&
                       Contains("&lt;the cores&gt; were 97 % busy") && Contains("n1, GPU 3") &&
                       Contains("attempt 2") && Contains(" --rerun 7") &&
                       Contains("different conditions: gpu driver version: 535.1 (runs 1 to 19)"));
}
