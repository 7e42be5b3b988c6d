// Blocks of a fit by host, GPU and day. The responses are those of a published design, with a known
// shift added.
#include <catch2/catch.hpp>

#include "analysis/blocks.h"
#include "analysis/fit_response.h"
#include "reports/json/analysis_json.h"
#include "reports/page/report_page.h"
#include "study/directory/journal.h"
#include "tests/analysis/example_studies.h"
#include "tests/temporary_directory.h"

using namespace doetune;
using Catch::Contains;

namespace {

struct BlockCase {
  tests::TemporaryDirectory folder;
  study::StudyDirectory directory;

  explicit BlockCase(const std::string& fit)
      : directory(tests::make_fccd_study(folder.path(), tests::fccd_study_text() + fit)) {}

  /// Rewrites the journal with changed records.
  template <typename Change>
  void change(const Change& change) {
    auto records = study::final_records(study::read_journal(directory.journal()).records);
    study::Journal journal(directory.journal(), directory.study.name, directory.plan_hash);
    for (auto& [run, record] : records) {
      record.attempt = 2;
      change(record);
      journal.append(record);
    }
  }
};

/// Odd runs on n1, even ones on n2, whose throughput is higher by 100.
void two_hosts(study::RunRecord& record) {
  record.host = record.run % 2 == 1 ? "n1" : "n2";
  if (record.host == "n2") record.responses["throughput"] += 100;
}

const surfaces::Fit& fit_of(const analysis::Analysis& analysis) {
  REQUIRE(analysis.responses[0].fit);
  return *analysis.responses[0].fit;
}

}  // namespace

TEST_CASE("A shift of a host is its block effect and leaves the coefficients alone",
          "[reports][blocks]") {
  BlockCase unshifted("fit: {block: host}\n"), shifted("fit: {block: host}\n");
  unshifted.change([](study::RunRecord& record) {
    two_hosts(record);
    if (record.host == "n2") record.responses["throughput"] -= 100;
  });
  shifted.change(two_hosts);
  const analysis::Analysis without = analysis::fit_runs(unshifted.directory);
  const analysis::Analysis with = analysis::fit_runs(shifted.directory);
  REQUIRE(fit_of(with).block_effects.size() == 1);
  CHECK(fit_of(with).block_effects[0].term == "block[host n2]");
  // Sum-to-zero contrasts: half of the shift above the average of the two blocks, half below.
  CHECK(fit_of(with).block_effects[0].estimate - fit_of(without).block_effects[0].estimate ==
        Approx(50));
  for (Eigen::Index c = 1; c < fit_of(with).beta.size(); ++c) {
    CHECK(fit_of(with).beta[c] == Approx(fit_of(without).beta[c]).margin(1e-9));
  }
  CHECK(*fit_of(with).sigma == Approx(*fit_of(without).sigma));
  CHECK_THAT(reports::fit_json(with), Contains("block[host n2]"));
  CHECK_THAT(reports::report_html(with), Contains("block[host n2]"));
}

TEST_CASE("One host is no block, nor is a plan's single one", "[reports][blocks]") {
  BlockCase by_host("fit: {block: host}\n"), by_plan("");
  by_host.change([](study::RunRecord& record) { record.host = "n1"; });
  const analysis::Analysis host = analysis::fit_runs(by_host.directory);
  const analysis::Analysis plan = analysis::fit_runs(by_plan.directory);
  CHECK(fit_of(host).block_effects.empty());
  CHECK(fit_of(host).beta == fit_of(plan).beta);
  CHECK(fit_of(host).sigma == fit_of(plan).sigma);
}

TEST_CASE("A block that is confounded with a term is an error that names it", "[reports][blocks]") {
  BlockCase study("fit: {block: day}\n");
  std::map<int, double> setting;
  for (const study::PlannedRun& run : study.directory.plan.runs) setting[run.run] = run.settings[0];
  study.change([&](study::RunRecord& record) {
    record.start = setting[record.run] < 2   ? "2026-11-20T23:59:59.000Z"
                   : setting[record.run] > 2 ? "2026-11-22T00:00:00.000Z"
                                             : "2026-11-21T12:00:00.000Z";
  });
  const analysis::Analysis analysis = analysis::fit_runs(study.directory);
  CHECK_FALSE(analysis.responses[0].fit);
  CHECK_THAT(analysis.responses[0].problem, Contains("block[2026-11-22]"));
}

TEST_CASE("Labels distinguish hosts, GPUs and the plan's blocks", "[reports][blocks]") {
  std::vector<study::PlannedRun> planned(4);
  std::map<int, study::RunRecord> records;
  for (int i = 0; i < 4; ++i) {
    planned[i].run = i + 1;
    records[i + 1].gpu = i % 2 == 0 ? "0" : "1";
    records[i + 1].host = "n1";
  }
  const std::vector<const study::PlannedRun*> runs{&planned[0], &planned[1], &planned[2],
                                                   &planned[3]};
  using Names = std::map<int, std::string>;
  const analysis::Blocks gpus = analysis::blocks_of(doe::BlockType::kGpu, runs, records);
  CHECK(gpus.numbers == std::vector<int>{1, 2, 1, 2});
  CHECK(gpus.names == Names{{1, "GPU 0"}, {2, "GPU 1"}});
  records[4].host = "n2";  // another GPU, though it has the same number
  planned[0].block = planned[1].block = 2;
  const analysis::Blocks both = analysis::blocks_of(doe::BlockType::kGpu, runs, records);
  CHECK(both.names == Names{{1, "block 1, host n1, GPU 0"},
                            {2, "block 1, host n2, GPU 1"},
                            {3, "block 2, host n1, GPU 0"},
                            {4, "block 2, host n1, GPU 1"}});
  CHECK(both.numbers == std::vector<int>{3, 4, 1, 2});
  CHECK(analysis::blocks_of(doe::BlockType::kPlan, runs, records).numbers ==
        std::vector<int>{2, 2, 1, 1});
  CHECK(analysis::blocks_of(doe::BlockType::kDay, runs, records).names[1] ==
        "block 1, day not recorded");
}
