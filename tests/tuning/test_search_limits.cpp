// What runs use of a search's limits, and the runs that the rest pays for.
#include <catch2/catch.hpp>
#include <cmath>

#include "study/run_record.h"
#include "study/study.h"
#include "tuning/search_limits.h"

using namespace doetune;
using tuning::Resource;
using tuning::SearchLimits;

namespace {

study::RunRecord run_of(double seconds, const char* gpus = "") {
  study::RunRecord record;
  record.duration_s = seconds;
  record.gpu = gpus;
  return record;
}

}  // namespace

TEST_CASE("time, GPU time and energy of runs and set-ups add up") {
  study::RunRecord first = run_of(30, "0,1");
  first.set_up_s = 10;
  first.telemetry = {{"power", 300}, {"cpu_power", 100}};
  study::RunRecord second = run_of(20, "0");
  second.set_up_s = 10;
  second.in_set_up = true;  // it failed while its server was set up: its duration is that
  const auto used = tuning::resources({first, second}, SearchLimits{});
  CHECK(used[0].used == 60);
  CHECK(used[0].each == 30);
  CHECK(used[1].used == 2 * 40 + 20);
  CHECK(used[2].used == 400 * 40);
  CHECK(tuning::record_power({first, second}));
  CHECK_FALSE(tuning::record_power({second}));
}

TEST_CASE("runs that are made at a time share the time and the processors' power, not the GPUs") {
  // From 10:00:00 to 10:00:30, from 10:00:10 to 10:01:00 after 10 s of setting up, and on its own.
  std::vector<study::RunRecord> records{run_of(30, "0"), run_of(50, "1"), run_of(20)};
  records[0].start = "2026-11-21T10:00:00.000Z";
  records[1].start = "2026-11-21T10:00:10.500Z";
  records[1].set_up_s = 5.5;
  records[2].start = "2026-11-21T12:00:00.000Z";
  for (study::RunRecord& record : records) record.telemetry = {{"cpu_power", 100}};
  CHECK(tuning::resources(records, {})[0].used == Approx(60.5 + 20));
  CHECK(tuning::resources(records, {})[1].used == Approx(30 + 55.5));
  CHECK(tuning::resources(records, {})[2].used == Approx(100 * 80.5));
  records[1].host = "another";
  CHECK(tuning::resources(records, {})[0].used == Approx(60.5 + 20));
  CHECK(tuning::resources(records, {})[2].used == Approx(100 * (30 + 55.5 + 20)));
}

TEST_CASE("runs to come are as those that completed") {
  std::vector<study::RunRecord> records{run_of(600), run_of(2), run_of(0)};
  records[0].status = study::RunStatus::kCompleted;
  records[1].status = study::RunStatus::kInfeasible;
  records[2].status = study::RunStatus::kInfeasible;
  records[2].same_as = 2;
  CHECK(tuning::resources(records, {})[0].each == 600);
  records.erase(records.begin());
  CHECK(tuning::resources(records, {})[0].each == 2);  // one was not executed
}

TEST_CASE("what no run uses pays for any number of runs") {
  for (const Resource& resource : tuning::resources({}, SearchLimits{})) {
    CHECK(std::isinf(resource.runs_for(resource.left())));
  }
  const auto gpu_time = tuning::resources({run_of(30)}, SearchLimits{})[1];
  CHECK(std::isinf(gpu_time.runs_for(1)));
}

TEST_CASE("a quarter of a limit pays for the confirmation runs, but for one at least") {
  SearchLimits limits;
  limits.settings = 2;
  limits.confirmations = 4;
  const auto confirmations = [&](double seconds) {
    limits.seconds = seconds;
    return tuning::resources({run_of(10)}, limits)[0].confirmations(limits);
  };
  CHECK(confirmations(79) == 1);
  CHECK(confirmations(160) == 2);
  CHECK(confirmations(239) == 2);
  CHECK(confirmations(1000) == 4);
  limits.confirmations = 0;
  CHECK(confirmations(1000) == 0);
}

TEST_CASE("a search for a front leaves no runs for a confirmation, which it does not make") {
  const study::Study study = study::parse_study(
      "command: [x]\n"
      "factors: {a: {low: 0, high: 1}}\n"
      "responses: {y: {goal: maximize}, z: {goal: minimize}}\n",
      "study.yaml");
  study::SearchState given;
  given.budget = 40;
  CHECK(tuning::search_limits(study, given).confirmations == 5);
  given.front = true;
  CHECK(tuning::search_limits(study, given).validating() == 0);
}
