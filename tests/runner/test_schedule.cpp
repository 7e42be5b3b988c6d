#include <catch2/catch.hpp>

#include "runner/run_error.h"
#include "runner/schedule.h"

using namespace doetune;
using runner::Schedule;
using runner::Selection;
using study::RunStatus;

namespace {

/// Runs 1, 2, ... in blocks of the given sizes.
study::Plan plan_of(const std::vector<int>& block_sizes) {
  study::Plan plan;
  int block = 0;
  for (const int size : block_sizes) {
    ++block;
    for (int i = 0; i < size; ++i) {
      study::PlannedRun run;
      run.run = static_cast<int>(plan.runs.size()) + 1;
      run.block = block;
      plan.runs.push_back(run);
    }
  }
  return plan;
}

std::map<int, study::RunRecord> records_of(const std::map<int, RunStatus>& statuses) {
  std::map<int, study::RunRecord> records;
  for (const auto& [run, status] : statuses) {
    records[run].run = run;
    records[run].status = status;
  }
  return records;
}

/// The runs left, by number.
std::vector<int> drained(const study::Plan& plan, Schedule& schedule) {
  std::vector<int> runs;
  while (const auto index = schedule.next()) runs.push_back(plan.runs[*index].run);
  return runs;
}

}  // namespace

TEST_CASE("Runs come in run order; those completed or infeasible never again",
          "[runner][schedule]") {
  const auto plan = plan_of({7});
  const auto records = records_of({{2, RunStatus::kCompleted},
                                   {3, RunStatus::kInfeasible},
                                   {4, RunStatus::kFailed},
                                   {5, RunStatus::kTimedOut},
                                   {6, RunStatus::kCancelled},
                                   {7, RunStatus::kLost}});
  SECTION("what did not succeed is done anew") {
    Schedule schedule(plan, records, {});
    CHECK(drained(plan, schedule) == std::vector<int>{1, 4, 5, 6, 7});
  }
  SECTION("or only what is asked for") {
    Schedule schedule(plan, records, {{}, {RunStatus::kLost}, 1});
    CHECK(drained(plan, schedule) == std::vector<int>{1, 7});
  }
  SECTION("only some runs") {
    Schedule schedule(plan, records, {{6, 2, 1}, Selection{}.again, 1});
    CHECK(drained(plan, schedule) == std::vector<int>{1, 6});
  }
  SECTION("only a run that is not there") {
    CHECK_THROWS_WITH(Schedule(plan, records, {{8}, {}, 1}),
                      Catch::Contains("no run 8") && Catch::Contains("1 to 7"));
  }
}

TEST_CASE("A failed run is tried again after its block, as often as allowed",
          "[runner][schedule]") {
  const auto plan = plan_of({2, 2});
  Schedule schedule(plan, {}, {{}, {}, 2});
  REQUIRE(schedule.next() == 0);
  CHECK(schedule.ended(0, RunStatus::kFailed));
  REQUIRE(schedule.next() == 1);
  REQUIRE(schedule.next() == 0);
  CHECK(schedule.ended(0, RunStatus::kTimedOut));
  REQUIRE(schedule.next() == 0);
  CHECK_FALSE(schedule.ended(0, RunStatus::kFailed));  // the third attempt, with two retries
  CHECK(drained(plan, schedule) == std::vector<int>{3, 4});
}

TEST_CASE("Infeasible and cancelled runs are not tried again; lost ones are, apart from failures",
          "[runner][schedule]") {
  const auto plan = plan_of({1});
  Schedule schedule(plan, {}, {{}, {}, 0});
  CHECK_FALSE(schedule.ended(0, RunStatus::kCompleted));
  CHECK_FALSE(schedule.ended(0, RunStatus::kInfeasible));
  CHECK_FALSE(schedule.ended(0, RunStatus::kCancelled));
  CHECK_FALSE(schedule.ended(0, RunStatus::kFailed));
  for (int i = 0; i < Schedule::kMostLost; ++i) CHECK(schedule.ended(0, RunStatus::kLost));
  CHECK_FALSE(schedule.ended(0, RunStatus::kLost));
}
