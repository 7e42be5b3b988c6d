// A fake study, launcher, clock and user: without processes or waiting.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "runner/attempts/request.h"
#include "runner/loop/run_study.h"
#include "study/directory/journal.h"
#include "tests/runner/fake_study.h"
#include "tests/runner/silent.h"
#include "tests/temporary_directory.h"

namespace doetune::tests {

/// How a fake attempt ends, and after how long.
struct Script {
  double duration_s = 1;
  runner::EndCause cause = runner::EndCause::kExited;
  int exit_code = 0;
  bool leaves_exit = true;
};

/// Attempts end at their time, on a clock that jumps from event to event.
struct FakeLauncher : runner::Launcher {
  explicit FakeLauncher(tests::FakeInterrupts& user) : interrupts(user) {}

  tests::FakeInterrupts& interrupts;  ///< wakes up wait()
  std::function<Script(const std::string&)> script = [](const std::string&) { return Script(); };
  std::function<void(double)> at_wait = [](double) {};  ///< called with the time before each wait
  double now_s = 0;
  std::size_t max_at_once = 0;
  std::vector<std::string> submitted;
  std::vector<std::string> resumed;
  bool goes_on = false;

  struct Running {
    runner::Attempt attempt;
    Script script;
    double end_s;
  };
  std::map<std::string, Running> running;

  void submit(const runner::Attempt& attempt) override {
    submitted.push_back(attempt.name);
    begin(attempt);
  }

  bool resume(const runner::Attempt& attempt) override {
    resumed.push_back(attempt.name);
    if (goes_on) begin(attempt);
    return goes_on;
  }

  std::optional<std::vector<runner::LauncherEvent>> wait(double timeout_s, int) override {
    const int before = interrupts.seen;
    at_wait(now_s);
    if (interrupts.seen != before) return std::vector<runner::LauncherEvent>();
    double until_s = now_s + timeout_s;
    for (const auto& [name, entry] : running) until_s = std::min(until_s, entry.end_s);
    now_s = until_s;
    std::vector<runner::LauncherEvent> events;
    for (const auto& [name, entry] : running) {
      if (entry.end_s <= now_s) events.push_back({name, "the node went away"});
    }
    for (const runner::LauncherEvent& event : events) end(event.attempt);
    return events;
  }

  void cancel(const std::string& name) override {
    running.at(name).script.cause = runner::EndCause::kCancelled;
    running.at(name).end_s = now_s;
  }

  void begin(const runner::Attempt& attempt) {
    const Script how = script(attempt.name);
    running.insert({attempt.name, {attempt, how, now_s + how.duration_s}});
    max_at_once = std::max(max_at_once, running.size());
  }

  void end(const std::string& name) {
    const Running ended = running.at(name);
    running.erase(name);
    if (!ended.script.leaves_exit) return;
    runner::AttemptEnd file;
    file.cause = ended.script.cause;
    file.exit_code = ended.script.exit_code;
    file.duration_s = ended.script.duration_s;
    runner::write_end(ended.attempt.directory, file);
    std::ofstream(ended.attempt.result()) << "{\"y\": 1}";
  }
};

struct World {
  tests::TemporaryDirectory temporary;
  study::StudyDirectory directory = tests::fake_study(temporary / "study", 4, {"true"});
  tests::FakeInterrupts interrupts;
  FakeLauncher launcher{interrupts};
  tests::SilentSink sink;

  runner::RunSummary run(const runner::RunOptions& options = {}) {
    return runner::run_study(directory, options, launcher, sink, interrupts,
                             [this] { return launcher.now_s; });
  }

  std::vector<study::RunRecord> records() {
    return study::read_journal(directory.journal()).records;
  }

  /// An attempt directory as left by an earlier runner.
  std::filesystem::path leave_attempt(int run, int number, const std::string& plan = "fake") {
    const auto path = directory.attempt(run, number);
    std::filesystem::create_directories(path);
    study::StudyDirectory made_for = directory;
    made_for.plan_hash = plan;
    const study::PlannedRun& planned = directory.plan.runs[static_cast<std::size_t>(run - 1)];
    if (!plan.empty()) {
      std::ofstream(path / "request.json") << runner::request_text(made_for, planned, number, {});
    }
    return path;
  }

  /// The directory of an attempt that completed.
  void leave_completed(int run, int number, const std::string& plan = "fake") {
    const auto path = leave_attempt(run, number, plan);
    runner::write_end(path, {runner::EndCause::kExited, 0, {}, "", "node1", "", "", "then", 5});
    std::ofstream(path / "result.json") << "{\"y\": 42}";
  }

  /// Changes a byte in the record of an attempt.
  void damage_record(int run, int number) {
    std::string text = study::read_file(directory.journal());
    const auto at = text.find(fmt::format("\"run\":{},\"attempt\":{},", run, number));
    REQUIRE(at != std::string::npos);
    text[at + 3] = 'X';
    std::ofstream(directory.journal(), std::ios::trunc) << text;
  }
};

}  // namespace doetune::tests
