// Runs that report their progress, and those that are ended by it.
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>

#include "runner/attempts/early_end.h"
#include "runner/attempts/outcome.h"
#include "tests/runner/fake_world.h"
#include "tests/temporary_directory.h"

using namespace doetune;
using runner::EndCause;
using study::RunStatus;
using tests::TemporaryDirectory;

namespace {

std::vector<double> steps_of(const std::vector<study::ProgressPoint>& points) {
  std::vector<double> steps;
  for (const study::ProgressPoint& point : points) steps.push_back(point.step);
  return steps;
}

void report(const std::filesystem::path& attempt, const std::string& text) {
  std::ofstream(study::progress_file(attempt), std::ios::app) << text;
}

study::EarlyEnd worse_than(double high) {
  return {{{"y", 3.5}}, {{"y", {-INFINITY, high}}}, "y would have been 4 at best"};
}

}  // namespace

TEST_CASE("Progress is read line by line, and damaged lines are left out", "[runner][progress]") {
  const TemporaryDirectory attempt;
  CHECK(study::read_progress(attempt.path()).empty());
  report(attempt.path(),
         "{\"step\": 1, \"responses\": {\"y\": 2, \"z\": null, \"w\": NaN, \"v\": 1e400}}\n"
         "{\"step\": 2, \"responses\": {\"y\": }}\n"
         "noise\n"
         "{\"step\": \"3\", \"responses\": {\"y\": 5}}\n"
         "{\"step\": 4, \"responses\": {\"y\": \"fast\"}}\n"
         "[5]\n"
         "{\"step\": 6, \"responses\": {\"y\": 7}, \"more\": 8}\n"
         "{\"step\": 7, \"responses\": {\"y\": 8}}");  // is still being written
  const auto points = study::read_progress(attempt.path());
  REQUIRE(steps_of(points) == std::vector<double>{1, 6});
  CHECK(points[0].responses == std::map<std::string, double>{{"y", 2}});
  CHECK(points[1].responses == std::map<std::string, double>{{"y", 7}});
  report(attempt.path(), "\n");
  CHECK(study::last_progress(attempt.path())->step == 7);
}

TEST_CASE("A restart from a checkpoint replaces the progress after it", "[runner][progress]") {
  const TemporaryDirectory attempt;
  for (const int step : {1, 2, 3, 4, 3, 5}) {
    report(attempt.path(), fmt::format("{{\"step\": {}, \"responses\": {{\"y\": 1}}}}\n", step));
  }
  CHECK(steps_of(study::read_progress(attempt.path())) == std::vector<double>{1, 2, 3, 5});
}

TEST_CASE("Only a bounded part of a regular file is read as progress", "[runner][progress]") {
  const TemporaryDirectory attempt;
  report(attempt.path(), "{\"step\": 1, \"responses\": {\"y\": 1}}\n" + std::string(100'000, '{') +
                             "\n{\"step\": 9, \"responses\": {\"y\": 2}}\n");
  CHECK(study::last_progress(attempt.path())->step == 9);
  CHECK(steps_of(study::read_progress(attempt.path())) == std::vector<double>{1, 9});
  std::filesystem::remove(study::progress_file(attempt.path()));
  REQUIRE(::mkfifo(study::progress_file(attempt.path()).c_str(), 0600) == 0);
  CHECK_FALSE(study::last_progress(attempt.path()));
}

TEST_CASE("The decision to end a run reads back as it was written", "[runner][progress]") {
  const TemporaryDirectory attempt;
  CHECK_FALSE(runner::read_early_end(attempt.path()));
  runner::write_early_end(attempt.path(), worse_than(4));
  const auto end = runner::read_early_end(attempt.path());
  REQUIRE(end);
  CHECK(end->responses.at("y") == 3.5);
  CHECK(end->bounds.at("y").low == -INFINITY);
  CHECK(end->bounds.at("y").high == 4);
  CHECK(end->reason == "y would have been 4 at best");
  std::ofstream(attempt / "ended_early") << "{\"bounds\": [1], \"responses\": 2, \"reason\": 3}";
  CHECK(runner::read_early_end(attempt.path())->bounds.empty());
  std::ofstream(attempt / "ended_early") << "{";
  CHECK_FALSE(runner::read_early_end(attempt.path()));
}

TEST_CASE("A stopped or lost attempt that was to be ended is, a finished one is what it measured",
          "[runner][progress]") {
  study::Study study;
  study.responses.resize(2);
  study.responses[0].name = "y";
  study.responses[1].name = "twice";
  study.responses[1].formula = "2 * y";
  runner::AttemptOutput output{"{\"y\": 9}", "", "", ""};
  output.early_end = worse_than(4);
  output.early_end->responses["unknown"] = 1;
  const auto assessed = [&](EndCause cause) {
    runner::AttemptEnd end;
    end.cause = cause;
    end.exit_code = 0;
    end.duration_s = 5;
    return runner::assess(study, study::PlannedRun(), 1, end, output);
  };
  for (const EndCause cause : {EndCause::kCancelled, EndCause::kLost}) {
    const study::RunRecord record = assessed(cause);
    CHECK(record.status == RunStatus::kEndedEarly);
    CHECK(record.reason == "y would have been 4 at best");
    CHECK(record.responses == std::map<std::string, double>{{"y", 3.5}, {"twice", 7}});
    CHECK(record.bounds.at("y").high == 4);
    CHECK(record.duration_s == 5);
  }
  CHECK(assessed(EndCause::kExited).status == RunStatus::kCompleted);
  CHECK(assessed(EndCause::kExited).bounds.empty());
  CHECK(assessed(EndCause::kTimeLimit).status == RunStatus::kTimedOut);
}

TEST_CASE("Runs are stopped where their progress says so, and not made again",
          "[runner][progress]") {
  tests::World world;
  world.launcher.script = [](const std::string&) { return tests::Script{100}; };
  int at_wait = 0;
  world.launcher.at_wait = [&](double) {
    for (const auto& [name, entry] : world.launcher.running) {
      report(entry.attempt.directory,
             fmt::format("{{\"step\": {}, \"responses\": {{\"y\": 1}}}}\n", ++at_wait));
      CHECK(entry.attempt.environment.at("DOETUNE_PROGRESS") ==
            study::progress_file(entry.attempt.directory));
    }
  };
  runner::RunOptions options;
  options.ends_early = [](const study::PlannedRun& run, const study::ProgressPoint& latest) {
    CHECK(latest.responses.at("y") == 1);
    return run.run == 2 ? std::optional(worse_than(4)) : std::nullopt;
  };
  const auto summary = world.run(options);
  CHECK(summary.counts.completed == 3);
  CHECK(summary.counts.ended_early == 1);
  CHECK(summary.counts.unsuccessful() == 0);
  CHECK_FALSE(summary.interrupted);
  CHECK(world.launcher.now_s == Approx(300).margin(1));  // a look comes every fifth of a second
  REQUIRE(world.records().size() == 4);
  CHECK(world.records()[1].status == RunStatus::kEndedEarly);
  CHECK(world.records()[1].bounds.at("y").high == 4);
  CHECK(world.run().attempts == 0);
}

TEST_CASE("A run whose end was decided before doetune was killed is not made again",
          "[runner][progress]") {
  tests::World world;
  runner::write_early_end(world.leave_attempt(2, 1), worse_than(4));
  const auto summary = world.run();
  CHECK(summary.counts.ended_early == 1);
  CHECK(summary.counts.completed == 3);
  CHECK(world.launcher.submitted == std::vector<std::string>{"fake.1.1", "fake.3.1", "fake.4.1"});
}
