#include <catch2/catch.hpp>

#include "runner/loop/schedule.h"
#include "runner/processes/run_error.h"

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

/// The numbers of the remaining runs.
std::vector<int> drained(const study::Plan& plan, Schedule& schedule) {
  std::vector<int> runs;
  while (const auto index = schedule.next(0)) runs.push_back(plan.runs[*index].run);
  return runs;
}

}  // namespace

TEST_CASE("Runs come in run order, and those completed or infeasible never again",
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
    Schedule schedule(plan, records, {{}, {RunStatus::kLost}, {}});
    CHECK(drained(plan, schedule) == std::vector<int>{1, 7});
  }
  SECTION("only some runs") {
    Schedule schedule(plan, records, {{6, 2, 1}, Selection{}.again, {}});
    CHECK(drained(plan, schedule) == std::vector<int>{1, 6});
  }
  SECTION("only a run that is not there") {
    CHECK_THROWS_WITH(Schedule(plan, records, {{8}, {}, {}}),
                      Catch::Contains("no run 8") && Catch::Contains("1 to 7"));
  }
}

TEST_CASE("A failed run is tried again after its block, as often as allowed",
          "[runner][schedule]") {
  const auto plan = plan_of({2, 2});
  Schedule schedule(plan, {}, {{}, {}, {2, 2}});
  REQUIRE(schedule.next(0) == 0);
  CHECK(schedule.ended(0, RunStatus::kFailed, 0));
  REQUIRE(schedule.next(0) == 1);
  REQUIRE(schedule.next(0) == 0);
  CHECK(schedule.ended(0, RunStatus::kTimedOut, 0));
  REQUIRE(schedule.next(0) == 0);
  CHECK_FALSE(schedule.ended(0, RunStatus::kFailed, 0));  // the third attempt, with two retries
  CHECK(drained(plan, schedule) == std::vector<int>{3, 4});
}

TEST_CASE("Infeasible and cancelled runs are not tried again, lost ones are, apart from failures",
          "[runner][schedule]") {
  const auto plan = plan_of({1});
  Schedule schedule(plan, {}, {{}, {}, {0, 0}});
  CHECK_FALSE(schedule.ended(0, RunStatus::kCompleted, 0));
  CHECK_FALSE(schedule.ended(0, RunStatus::kInfeasible, 0));
  CHECK_FALSE(schedule.ended(0, RunStatus::kCancelled, 0));
  CHECK_FALSE(schedule.ended(0, RunStatus::kFailed, 0));
  for (int i = 0; i < study::Retries().lost; ++i) CHECK(schedule.ended(0, RunStatus::kLost, 0));
  CHECK_FALSE(schedule.ended(0, RunStatus::kLost, 0));
}

TEST_CASE("Each kind of end has its own retries, and a wait that doubles", "[runner][schedule]") {
  const study::Plan plan = plan_of({2});
  Selection selection;
  selection.retries = {3, 0, 1, 10};
  Schedule schedule(plan, {}, selection);
  REQUIRE(schedule.next(0) == 0);
  CHECK(schedule.ended(0, RunStatus::kFailed, 100));
  CHECK(schedule.peek(100) == 1);  // the other run does not wait
  REQUIRE(schedule.next(100) == 1);
  CHECK_FALSE(schedule.ended(1, RunStatus::kTimedOut, 100));
  CHECK_FALSE(schedule.next(109.9));
  CHECK(schedule.due_s() == 110);
  REQUIRE(schedule.next(110) == 0);
  CHECK(schedule.ended(0, RunStatus::kFailed, 200));
  CHECK_FALSE(schedule.next(219.9));
  REQUIRE(schedule.next(220) == 0);
  CHECK(schedule.ended(0, RunStatus::kLost, 300));  // losses are counted separately
  REQUIRE(schedule.next(310) == 0);
  CHECK_FALSE(schedule.ended(0, RunStatus::kTimedOut, 400));
  CHECK(schedule.due_s() == std::numeric_limits<double>::infinity());
}
