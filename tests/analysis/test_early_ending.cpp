// Studies with runs that were ended early.
#include <fmt/ranges.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "analysis/analysis.h"
#include "analysis/best_run.h"
#include "analysis/caveats.h"
#include "doe/design.h"
#include "study/directory/journal.h"
#include "tests/analysis/example_studies.h"
#include "tests/temporary_directory.h"

using namespace doetune;
using Catch::Contains;

namespace {

/// The published study, with a Gaussian process for the throughput and its best run ended early.
struct EndedStudy {
  tests::TemporaryDirectory temporary;
  study::StudyDirectory directory;
  int ended = 0;

  explicit EndedStudy(const std::string& fit) : directory(study_with(fit)) {
    const auto records = study::final_records(study::read_journal(directory).records);
    ended = analysis::best_measured_run(analysis::analyse(directory))->run;
    std::vector<study::RunRecord> changed;
    for (auto [run, record] : records) {
      if (run == ended) {
        record.status = study::RunStatus::kEndedEarly;
        record.responses = {{"throughput", 10}};
        record.bounds["throughput"].high = 100;
      }
      changed.push_back(record);
    }
    std::filesystem::remove(directory.journal());
    study::write_journal(directory, changed);
  }

  study::StudyDirectory study_with(const std::string& fit) const {
    return tests::make_fccd_study(temporary.path(), tests::fccd_study_text() + fit);
  }

  double predicted(const analysis::Analysis& analysis) const {
    const auto& run = directory.plan.runs[static_cast<std::size_t>(ended - 1)];
    for (const analysis::ResponseAnalysis& response : analysis.responses) {
      if (response.response.name != "throughput") continue;
      return response.surface()->response(doe::coded_point(directory.study.factors, run.settings));
    }
    return NAN;
  }
};

}  // namespace

TEST_CASE("A run that was ended early is censored in a Gaussian process", "[reports][early]") {
  const EndedStudy study("fit: {surface: gaussian-process}\n");
  const auto analysis = analysis::analyse(study.directory);
  const analysis::ResponseAnalysis& response = analysis.responses.front();
  REQUIRE(response.response.name == "throughput");
  CHECK(response.censored_runs == std::vector<int>{study.ended});
  CHECK(response.runs_of_surface().size() == 20);
  CHECK(std::find(response.runs.begin(), response.runs.end(), study.ended) == response.runs.end());
  // With a bound that says nothing, the same run is predicted as the others let expect.
  EndedStudy vague("fit: {surface: gaussian-process}\n");
  std::vector<study::RunRecord> records = study::read_journal(vague.directory).records;
  for (study::RunRecord& record : records) {
    if (record.run == vague.ended) record.bounds["throughput"].high = 1e9;
  }
  std::filesystem::remove(vague.directory.journal());
  study::write_journal(vague.directory, records);
  CHECK(study.predicted(analysis) < vague.predicted(analysis::analyse(vague.directory)) - 100);
  // It is neither a measurement nor a failure, and it could run.
  CHECK(analysis.completed() == 19);
  CHECK(analysis::best_measured_run(analysis)->run != study.ended);
  CHECK_FALSE(analysis.feasibility);
  CHECK_THAT(fmt::format("{}", fmt::join(analysis::caveats(analysis, {}), " ")),
             Contains("1 run ended early as clearly worse than the best: Gaussian processes take "
                      "it as censored, other surfaces leave it out."));
}

TEST_CASE("A polynomial leaves out a run that was ended early", "[reports][early]") {
  const EndedStudy study("");
  const auto analysis = analysis::analyse(study.directory);
  CHECK(analysis.responses.front().censored_runs.empty());
  CHECK(analysis.responses.front().fit->n == 19);
  CHECK(study.predicted(analysis) > 1000);
}
