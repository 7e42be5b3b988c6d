// Policies of the run loop: stopping, retries and hooks.
#include <fmt/format.h>

#include "runner/processes/run_error.h"
#include "tests/runner/fake_world.h"

using namespace doetune;
using runner::EndCause;
using study::RunStatus;
using tests::Script;
using tests::World;

namespace {

Script failing(double duration_s = 1) {
  Script script;
  script.duration_s = duration_s;
  script.exit_code = 1;
  return script;
}

}  // namespace

TEST_CASE("A file `stop` lets the runs under way finish, and stays", "[runner][policies]") {
  World world;
  world.launcher.at_wait = [&](double now_s) {
    if (now_s == 1) std::ofstream(world.directory.path / "stop") << "";
  };
  auto summary = world.run();
  CHECK(summary.interrupted);
  CHECK(summary.counts.completed == 2);  // the second was in progress
  REQUIRE(world.sink.notes.size() == 1);
  CHECK_THAT(world.sink.notes[0], Catch::Contains("remove it to continue"));

  CHECK(world.run().counts.completed == 2);  // the stop file still exists
  std::filesystem::remove(world.directory.path / "stop");
  summary = world.run();
  CHECK(summary.counts.completed == 4);
  CHECK_FALSE(summary.interrupted);
}

TEST_CASE("A file `stop` that is there already ends the call without waiting for anything",
          "[runner][policies]") {
  World world;
  std::ofstream(world.directory.stop_file()) << "";
  int waits = 0;
  world.launcher.at_wait = [&](double) { ++waits; };
  const auto summary = world.run();
  CHECK(summary.interrupted);
  CHECK(summary.counts.remaining == 4);
  CHECK(waits == 0);
  REQUIRE(world.sink.notes.size() == 1);
  CHECK_THAT(world.sink.notes[0], Catch::Contains("remove it to continue"));
}

TEST_CASE("A file `stop` takes effect while a run waits for its next attempt",
          "[runner][policies]") {
  World world;
  world.directory = tests::fake_study(world.temporary / "one", 1, {"true"});
  world.directory.study.run.retries = {1, 1, 0, 1000};
  world.launcher.script = [](const std::string&) { return failing(); };
  world.launcher.at_wait = [&](double now_s) {
    if (now_s > 10) std::ofstream(world.directory.stop_file()) << "";
  };
  CHECK(world.run().interrupted);
  CHECK(world.launcher.submitted.size() == 1);
  CHECK(world.launcher.now_s < 100);
}

TEST_CASE("A study may stop at the first run that failed for good", "[runner][policies]") {
  World world;
  world.directory.study.run.on_failure = study::OnFailure::kStop;
  world.directory.study.run.retries = {1, 1};
  world.launcher.script = [](const std::string& name) {
    return name.starts_with("fake.2.") ? failing() : Script();
  };
  const auto summary = world.run();
  CHECK(summary.gave_up);
  CHECK_FALSE(summary.interrupted);
  // Retried at once, and no other run is started.
  CHECK(world.launcher.submitted == std::vector<std::string>{"fake.1.1", "fake.2.1", "fake.2.2"});
  CHECK(summary.counts.remaining == 2);
  CHECK(summary.counts.failed == 1);

  World infeasible;  // infeasible is not a failure
  infeasible.directory.study.run.on_failure = study::OnFailure::kStop;
  infeasible.launcher.script = [](const std::string&) {
    Script script;
    script.exit_code = 77;
    return script;
  };
  CHECK(infeasible.run().counts.infeasible == 4);
}

TEST_CASE("A plan whose first three runs fail alike stops", "[runner][policies]") {
  World world;
  world.launcher.script = [](const std::string&) { return failing(); };
  auto summary = world.run();
  CHECK(summary.gave_up);
  CHECK_FALSE(summary.interrupted);
  CHECK(world.launcher.submitted == std::vector<std::string>{"fake.1.1", "fake.2.1", "fake.3.1"});
  CHECK(summary.counts.failed == 3);
  CHECK(summary.counts.remaining == 1);
  REQUIRE(world.sink.notes.size() == 1);
  CHECK_THAT(world.sink.notes[0], Catch::Contains("first 3 runs failed in the same way") &&
                                      Catch::Contains("exit code 1") &&
                                      Catch::Contains("on_failure: continue"));

  SECTION("and the next call continues, once the program works") {
    world.launcher.script = [](const std::string&) { return Script(); };
    summary = world.run();
    CHECK_FALSE(summary.gave_up);
    CHECK(summary.counts.completed == 4);
  }
  SECTION("and the next call stops again, if it still fails") {
    CHECK(world.run().gave_up);
    CHECK(world.launcher.submitted.size() == 6);
  }
  SECTION("unless the study continues after failures") {
    world.directory.study.run.on_failure = study::OnFailure::kContinue;
    summary = world.run();
    CHECK_FALSE(summary.gave_up);
    CHECK(summary.counts.failed == 4);
  }
}

TEST_CASE("The failure that stops a plan is not announced as one to retry", "[runner][policies]") {
  World world;
  world.directory.study.run.retries = {1, 0};
  world.launcher.script = [](const std::string&) { return failing(); };
  CHECK(world.run().gave_up);
  CHECK(world.sink.retried == std::vector<int>{1, 2});
}

TEST_CASE("Runs that fail in different ways, or after one that worked, do not stop a plan",
          "[runner][policies]") {
  World world;
  world.directory.study.run.retries = {0, 0, 0};
  SECTION("other exit codes") {
    world.launcher.script = [](const std::string& name) {
      Script script = failing();
      script.exit_code = name[5] - '0';  // the number of the run
      return script;
    };
    CHECK(world.run().counts.failed == 4);
  }
  SECTION("infeasible settings") {
    world.launcher.script = [](const std::string& name) {
      Script script = failing();
      if (name == "fake.1.1") script.exit_code = 77;
      return script;
    };
    CHECK(world.run().counts.failed == 3);
  }
  SECTION("a time limit") {
    world.launcher.script = [](const std::string& name) {
      Script script = failing();
      if (name == "fake.2.1") script.cause = EndCause::kTimeLimit;
      return script;
    };
    CHECK(world.run().counts.failed == 3);
  }
  CHECK(world.sink.notes.empty());
}

TEST_CASE("A configuration that was infeasible is not run again", "[runner][policies]") {
  World world;
  auto& runs = world.directory.plan.runs;
  runs[2].settings = runs[0].settings;
  runs[3].settings = runs[0].settings;
  runs[3].type = doe::PointType::kConfirmation;  // whether it can run is what it tests
  world.launcher.script = [](const std::string& name) {
    Script script;
    if (name == "fake.1.1") script.exit_code = 77;
    return script;
  };
  const auto summary = world.run();
  CHECK(world.launcher.submitted == std::vector<std::string>{"fake.1.1", "fake.2.1", "fake.4.1"});
  CHECK(summary.counts.infeasible == 2);
  CHECK(summary.attempts == 3);
  const auto records = study::final_records(study::read_journal(world.directory.journal()).records);
  const study::RunRecord& record = records.at(3);
  CHECK(record.status == RunStatus::kInfeasible);
  CHECK(record.same_as == 1);
  CHECK(record.reason ==
        fmt::format("the same configuration was infeasible in run 1 ({}); not executed",
                    records.at(1).reason));
  CHECK_FALSE(records.at(1).same_as);
  CHECK(world.run().attempts == 0);  // nothing is left
}

TEST_CASE("A study that would stop at a failure waits for the backoff alone, and goes on",
          "[runner][policies]") {
  World world;
  world.directory.study.run.on_failure = study::OnFailure::kStop;
  world.directory.study.run.retries = {1, 1, 0, 10};
  world.launcher.script = [](const std::string& name) {
    return name == "fake.2.1" ? failing() : Script();
  };
  CHECK(world.run().counts.completed == 4);
  CHECK(world.launcher.submitted ==
        std::vector<std::string>{"fake.1.1", "fake.2.1", "fake.2.2", "fake.3.1", "fake.4.1"});
  CHECK(world.launcher.now_s == 2 + 10 + 3);
}

TEST_CASE("A run that failed waits before it is tried again, the others don't",
          "[runner][policies]") {
  World world;
  world.directory.study.run.retries = {2, 0, 0, 10};
  world.launcher.script = [](const std::string& name) {
    return name == "fake.1.1" || name == "fake.1.2" ? failing() : Script();
  };
  const auto summary = world.run();
  CHECK(summary.counts.completed == 4);
  CHECK(world.launcher.submitted == std::vector<std::string>{"fake.1.1", "fake.2.1", "fake.3.1",
                                                             "fake.4.1", "fake.1.2", "fake.1.3"});
  CHECK(world.launcher.now_s == 1 + 10 + 1 + 20 + 1);  // the second at 11, the third at 32
}

TEST_CASE("Hooks hear of each attempt and of the end", "[runner][policies]") {
  World world;
  const std::string log = (world.temporary / "log").string();
  auto& run = world.directory.study.run;
  run.after_run = {"sh", "-c", "echo {run}.{attempt} {status} $DOETUNE_STATUS >>" + log};
  run.after_all = {"sh", "-c", "echo {completed} done, {remaining} left >>" + log};
  run.environment = {{"PATH", "/usr/bin:/bin"}};
  world.launcher.script = [](const std::string& name) {
    return name == "fake.3.1" ? failing() : Script();
  };
  world.run();
  CHECK(study::read_file(log) ==
        "1.1 completed completed\n2.1 completed completed\n3.1 failed failed\n"
        "4.1 completed completed\n3 done, 0 left\n");
  CHECK(world.sink.notes.empty());
}

TEST_CASE("A hook that fails is reported and changes nothing, and one that cannot work is refused",
          "[runner][policies]") {
  World world;
  world.directory.study.run.after_run = {"sh", "-c", "echo no such channel >&2; exit 4"};
  CHECK(world.run().counts.completed == 4);
  REQUIRE(world.sink.notes.size() == 4);
  CHECK(world.sink.notes[0] == "run.after_run: exit code 4: no such channel");

  World other;
  other.directory.study.run.after_run = {"sh", "{statsu}"};
  CHECK_THROWS_WITH(other.run(), Catch::Contains("did you mean 'status'?"));
  other.directory.study.run.after_run = {"no-such-program-at-all"};
  CHECK_THROWS_AS(other.run(), runner::RunError);
  CHECK(other.launcher.submitted.empty());
}
