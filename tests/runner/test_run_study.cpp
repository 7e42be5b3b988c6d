// The run loop with a fake launcher, clock and user: without processes or waiting.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <functional>
#include <memory>

#include "runner/loop/planned_attempts.h"
#include "runner/loop/run_study.h"
#include "runner/processes/run_error.h"
#include "study/directory/journal.h"
#include "tests/runner/fake_world.h"

using namespace doetune;
using runner::AttemptEnd;
using runner::EndCause;
using runner::RunOptions;
using runner::RunSummary;
using study::RunStatus;
using tests::Script;
using tests::World;

TEST_CASE("Every run of the plan is executed once, in run order", "[runner][run]") {
  World world;
  const auto summary = world.run();
  CHECK(world.launcher.submitted ==
        std::vector<std::string>{"fake.1.1", "fake.2.1", "fake.3.1", "fake.4.1"});
  CHECK(world.launcher.max_at_once == 1);
  CHECK(world.launcher.now_s == 4);  // no time between the runs
  CHECK(summary.counts.completed == 4);
  CHECK(summary.counts.remaining == 0);
  CHECK_FALSE(summary.interrupted);

  SECTION("and a second call has nothing to do") {
    CHECK(world.run().counts.completed == 4);
    CHECK(world.launcher.submitted.size() == 4);
  }
}

TEST_CASE("Several runs at once keep all slots busy", "[runner][run]") {
  World world;
  world.launcher.script = [](const std::string& name) {
    Script script;
    script.duration_s = name == "fake.1.1" ? 3 : 1;
    return script;
  };
  RunOptions options;
  options.jobs = 2;
  world.run(options);
  CHECK(world.launcher.max_at_once == 2);
  CHECK(world.launcher.now_s == 3);  // 2, 3 and 4 concurrently with 1
}

TEST_CASE("GPUs are dealt out to the runs under way, each to one at a time", "[runner][run]") {
  World world;
  world.directory.study.run.gpus_per_run.fixed = 1;
  RunOptions options;
  options.jobs = 2;
  options.gpus = {"3", "GPU-abc"};
  world.launcher.at_wait = [&](double) {
    std::vector<std::string> devices;
    for (const auto& [name, entry] : world.launcher.running) {
      devices.push_back(entry.attempt.environment.at("CUDA_VISIBLE_DEVICES"));
    }
    std::sort(devices.begin(), devices.end());
    CHECK(std::adjacent_find(devices.begin(), devices.end()) == devices.end());
  };
  CHECK(world.run(options).counts.completed == 4);

  CHECK(world.launcher.max_at_once == 2);
}

TEST_CASE("Runs wait for GPUs, and more than there are is refused before anything is run",
          "[runner][run]") {
  World world;
  world.directory.study.run.gpus_per_run.fixed = 1;
  RunOptions options;
  options.jobs = 3;
  options.gpus = {"0", "1"};
  CHECK(world.run(options).counts.completed == 4);
  CHECK(world.launcher.max_at_once == 2);

  World other;
  other.directory.study.run.gpus_per_run = {0, "x"};  // run 3 needs three of two GPUs
  CHECK_THROWS_WITH(other.run(options), Catch::Contains("needs 3 GPUs, but there are 2"));
  CHECK(other.launcher.submitted.empty());
}

TEST_CASE("The first interrupt finishes the runs under way, and the study resumes",
          "[runner][run]") {
  World world;
  world.launcher.at_wait = [&](double now_s) { world.interrupts.seen = now_s >= 1 ? 1 : 0; };
  const auto summary = world.run();
  CHECK(summary.interrupted);
  CHECK(summary.counts.completed == 2);
  CHECK(summary.counts.remaining == 2);
  REQUIRE(world.sink.notes.size() == 1);
  CHECK_THAT(world.sink.notes[0], Catch::Contains("Ctrl-C again"));

  world.launcher.at_wait = [](double) {};
  world.interrupts.seen = 0;
  CHECK(world.run().counts.completed == 4);
  CHECK(world.launcher.submitted.size() == 4);
}

TEST_CASE("The second interrupt stops the runs under way, and they are done anew",
          "[runner][run]") {
  World world;
  world.launcher.at_wait = [&](double now_s) { world.interrupts.seen = now_s >= 1 ? 2 : 0; };
  const auto summary = world.run();
  CHECK(summary.interrupted);
  CHECK(summary.counts.completed == 1);
  CHECK(summary.counts.cancelled == 1);
  CHECK(world.records().back().status == RunStatus::kCancelled);

  world.launcher.at_wait = [](double) {};
  world.interrupts.seen = 0;
  CHECK(world.run().counts.completed == 4);
  CHECK(world.launcher.submitted.back() == "fake.4.1");
  CHECK(world.launcher.submitted[2] == "fake.2.2");  // a new attempt, a new directory
}

TEST_CASE("An attempt that ended without being recorded is taken into the journal",
          "[runner][run]") {
  World world;
  world.leave_completed(2, 1);
  CHECK(world.run().counts.completed == 4);
  CHECK(world.launcher.submitted == std::vector<std::string>{"fake.1.1", "fake.3.1", "fake.4.1"});
  CHECK(world.records().front().responses.at("y") == 42);
}

TEST_CASE("An attempt that was cut off is recorded as lost and made anew", "[runner][run]") {
  World world;
  const auto path = world.leave_attempt(2, 1);
  SECTION("without an exit file") {}
  SECTION("with one that a power cut left empty") { std::ofstream(path / "exit") << ""; }
  CHECK(world.run().counts.completed == 4);
  CHECK(world.launcher.resumed == std::vector<std::string>{"fake.2.1"});
  CHECK(world.records().front().status == RunStatus::kLost);
  CHECK(world.launcher.submitted[1] == "fake.2.2");
}

TEST_CASE("A damaged record of an earlier attempt does not undo the run's result",
          "[runner][run]") {
  World world;
  world.directory.study.run.retries = {1, 1};
  world.launcher.script = [](const std::string& name) {
    Script script;
    script.exit_code = name == "fake.2.1" ? 1 : 0;
    return script;
  };
  REQUIRE(world.run().counts.completed == 4);
  REQUIRE(world.launcher.submitted.size() == 5);
  world.damage_record(2, 1);
  CHECK(world.run().counts.completed == 4);
  CHECK(world.launcher.submitted.size() == 5);
  CHECK(world.launcher.resumed.empty());
  CHECK(world.records().size() == 4);  // and nothing is appended
}

TEST_CASE("An attempt after the one that gave a run its result is left alone", "[runner][run]") {
  World world;
  world.run();
  world.leave_attempt(2, 2);
  CHECK(world.run().counts.completed == 4);
  CHECK(world.launcher.resumed.empty());
  CHECK(world.records().size() == 4);
}

TEST_CASE("Attempts of another plan are no results of this one", "[runner][run]") {
  const auto plan = GENERATE(as<std::string>(), "", "another");
  CAPTURE(plan);
  World world;
  world.leave_completed(2, 1, plan);
  CHECK(world.run().counts.completed == 4);
  CHECK(world.launcher.resumed.empty());
  CHECK(world.launcher.submitted ==
        std::vector<std::string>{"fake.1.1", "fake.2.2", "fake.3.1", "fake.4.1"});
}

TEST_CASE("The directory of another attempt, copied to a run's place, is no result of it",
          "[runner][run]") {
  World world;
  world.leave_completed(3, 1);
  std::filesystem::copy(world.directory.attempt(3, 1), world.directory.attempt(2, 1),
                        std::filesystem::copy_options::recursive);
  CHECK(world.run().counts.completed == 4);
  CHECK(world.launcher.submitted == std::vector<std::string>{"fake.1.1", "fake.2.2", "fake.4.1"});
  REQUIRE(world.sink.notes.size() == 1);
  CHECK_THAT(world.sink.notes[0],
             Catch::Contains("0002.1: left out") && Catch::Contains("not of attempt 1 at run 2"));
}

TEST_CASE("An attempt at other settings than the sheet has now is no result", "[runner][run]") {
  World world;
  world.leave_completed(2, 1);
  world.directory.plan.runs[1].settings = {4};
  CHECK(world.run().counts.completed == 4);
  CHECK(world.launcher.submitted[1] == "fake.2.2");
}

TEST_CASE("A record says at which settings it was measured", "[runner][run]") {
  World world;
  world.run();
  for (const study::RunRecord& record : world.records()) {
    CHECK(
        record.settings ==
        study::settings_texts(world.directory.study,
                              world.directory.plan.runs[static_cast<std::size_t>(record.run - 1)]));
  }
  CHECK(study::read_journal(world.directory.journal()).sheet == study::sheet_of(world.directory));
}

TEST_CASE("Of a run's records that of the last attempt counts, wherever it stands",
          "[runner][run]") {
  study::RunRecord early;
  early.status = RunStatus::kLost;
  study::RunRecord late;
  late.attempt = 2;
  late.status = RunStatus::kCompleted;
  CHECK(study::final_records({late, early}).at(0).status == RunStatus::kCompleted);
  study::RunRecord corrected = late;
  corrected.status = RunStatus::kFailed;
  CHECK(study::final_records({late, early, corrected}).at(0).status == RunStatus::kFailed);
}

TEST_CASE("The journal cut at any byte, no run is executed again", "[runner][run]") {
  // What truncation removes from the journal is recovered from the attempt directories.
  World world;
  world.directory = tests::fake_study(world.temporary / "study", 2, {"true"});
  world.run();
  REQUIRE(world.launcher.submitted.size() == 2);
  const std::string whole = study::read_file(world.directory.journal());
  for (std::size_t length = 0; length <= whole.size(); ++length) {
    CAPTURE(length);
    std::ofstream(world.directory.journal(), std::ios::trunc) << whole.substr(0, length);
    REQUIRE(world.run().counts.completed == 2);
    REQUIRE(world.records().size() == 2);
  }
  CHECK(world.launcher.submitted.size() == 2);
  CHECK(world.launcher.resumed.empty());
}

TEST_CASE("An attempt that goes on without its runner is waited for", "[runner][run]") {
  World world;
  world.leave_attempt(2, 1);
  world.launcher.goes_on = true;
  CHECK(world.run().counts.completed == 4);
  CHECK(world.launcher.submitted == std::vector<std::string>{"fake.1.1", "fake.3.1", "fake.4.1"});
  CHECK(world.launcher.max_at_once == 1);  // it takes a slot
}

TEST_CASE("An attempt without an exit file is lost, and why is recorded", "[runner][run]") {
  World world;
  world.launcher.script = [](const std::string& name) {
    Script script;
    script.leaves_exit = name != "fake.1.1";
    return script;
  };
  CHECK(world.run().counts.completed == 4);
  CHECK(world.records().front().status == RunStatus::kLost);
  CHECK(world.records().front().reason == "the node went away");
}

TEST_CASE("Failures are recorded and stop nothing", "[runner][run]") {
  World world;
  world.directory.study.run.retries = {1, 1};
  world.launcher.script = [](const std::string& name) {
    Script script;
    if (name.starts_with("fake.2.")) script.exit_code = 1;
    if (name.starts_with("fake.3.")) script.exit_code = 77;
    if (name.starts_with("fake.4.")) script.cause = EndCause::kTimeLimit;
    return script;
  };
  const auto summary = world.run();
  CHECK(summary.counts.completed == 1);
  CHECK(summary.counts.failed == 1);
  CHECK(summary.counts.infeasible == 1);
  CHECK(summary.counts.timed_out == 1);
  CHECK(world.records().size() == 6);  // 2 and 4 twice
}

TEST_CASE("The table of results is there when the call ends, however it ends", "[runner][run]") {
  World world;
  world.launcher.at_wait = [&](double now_s) { world.interrupts.seen = now_s >= 1 ? 1 : 0; };
  world.run();
  const std::string csv = study::read_file(world.directory.results_csv());
  CHECK(std::count(csv.begin(), csv.end(), '\n') == 5);
  CHECK_THAT(csv, Catch::Contains(",completed,"));
}

TEST_CASE("A study that another doetune runs is refused", "[runner][run]") {
  World world;
  const study::DirectoryLock other(world.directory.path);
  CHECK_THROWS_AS(world.run(), study::DirectoryError);
  CHECK(world.launcher.submitted.empty());
}

TEST_CASE("A study that is moved while its runs are made stops, and goes on at its new path",
          "[runner][run]") {
  World world;
  const auto before = world.directory.path;
  world.launcher.script = [](const std::string& name) {
    Script script;
    script.duration_s = name == "fake.3.1" ? 5 : 1;
    return script;
  };
  const auto after = world.temporary / "moved";
  world.launcher.at_wait = [&](double now_s) {
    if (now_s == 2) std::filesystem::rename(before, after);
  };
  CHECK_THROWS_WITH(world.run(), Catch::Contains("was moved or deleted"));
  CHECK_FALSE(std::filesystem::exists(before));
  world.directory.path = after;
  CHECK(world.records().size() == 2);  // the third was not assessed by files that were moved

  world.launcher.at_wait = [](double) {};
  world.launcher.running.clear();
  CHECK(world.run().counts.completed == 4);
}

TEST_CASE("A study that is deleted while its runs are made stops, and is not made again",
          "[runner][run]") {
  World world;
  world.launcher.script = [](const std::string& name) {
    Script script;
    script.duration_s = name == "fake.3.1" ? 5 : 1;
    return script;
  };
  world.launcher.at_wait = [&](double now_s) {
    if (now_s == 2) std::filesystem::remove_all(world.directory.path);
  };
  CHECK_THROWS_WITH(world.run(), Catch::Contains("was moved or deleted"));
  CHECK_FALSE(std::filesystem::exists(world.directory.path));
}

TEST_CASE("A lock file that is removed while runs are made lets no other doetune in",
          "[runner][run]") {
  World world;
  std::size_t refused = 0;
  world.launcher.at_wait = [&](double) {
    std::filesystem::remove(world.directory.path / "lock");
    try {
      const study::DirectoryLock other(world.directory.path);
    } catch (const study::DirectoryError&) {
      ++refused;
    }
  };
  CHECK(world.run().counts.completed == 4);
  CHECK(refused >= 4);
  CHECK(world.records().size() == 4);
}

TEST_CASE("A journal that cannot be written ends the call, and what was acknowledged stays",
          "[runner][run]") {
  World world;
  world.launcher.at_wait = [&](double now_s) {
    if (now_s >= 2) std::filesystem::remove_all(world.directory.path / "runs");
  };
  CHECK_THROWS_AS(world.run(), study::DirectoryError);
  CHECK(world.records().size() >= 2);
}

TEST_CASE("What would be run can be seen beforehand", "[runner][run]") {
  World world;
  world.directory.study.command = {"true", "--x", "{x}"};
  RunOptions options;
  options.only = {3};
  const auto attempts = runner::planned_attempts(world.directory, options, world.launcher);
  REQUIRE(attempts.size() == 1);
  CHECK(attempts[0].run == 3);
  CHECK(attempts[0].attempt.arguments == std::vector<std::string>{"true", "--x", "3"});
  CHECK(attempts[0].attempt.program.filename() == "true");
  CHECK_FALSE(std::filesystem::exists(world.directory.journal()));

  world.directory.study.command = {"true", "{y}"};
  CHECK_THROWS_WITH(world.run(), Catch::Contains("'{y}'"));
  CHECK(world.launcher.submitted.empty());
}
