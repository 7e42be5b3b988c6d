#include <catch2/catch.hpp>

#include "runner/loop/progress_printer.h"
#include "tests/runner/fake_study.h"

using namespace doetune;
using runner::Progress;
using study::RunStatus;

namespace {

study::RunRecord record_of(int run, RunStatus status, double duration_s) {
  study::RunRecord record;
  record.run = run;
  record.status = status;
  record.duration_s = duration_s;
  if (status == RunStatus::kCompleted) record.responses["y"] = 861.23;
  if (status == RunStatus::kFailed) record.reason = "exit code 3";
  return record;
}

Progress progress_of(int jobs, int planned, std::optional<double> expected_s = {}) {
  Progress progress(jobs, expected_s, 100);
  runner::RunCounts counts;
  counts.planned = counts.remaining = planned;
  progress.set_counts(counts);
  progress.set_waiting(static_cast<std::size_t>(planned));
  return progress;
}

/// A printer and its output.
struct Printed {
  study::StudyDirectory directory =
      tests::fake_study(std::filesystem::temp_directory_path(), 20, {"true"});
  std::string text;
  int width = 0;

  runner::ProgressPrinter printer(bool terminal, bool color = false) {
    runner::ProgressOutput output;
    output.write = [this](std::string_view written) { text += written; };
    if (terminal) output.width = [this] { return width; };
    output.color = color;
    return {directory.study, std::move(output)};
  }

  const study::PlannedRun& run(int number) const {
    return directory.plan.runs.at(static_cast<std::size_t>(number) - 1);
  }

  std::string taken() { return std::exchange(text, ""); }
};

}  // namespace

TEST_CASE("Time left is that of the runs left at the mean so far, less what is done of them",
          "[runner][progress]") {
  Progress progress = progress_of(1, 4);
  CHECK_FALSE(progress.time_left_s(100));  // unknown so far
  progress.started(1, 100);
  progress.ended(record_of(1, RunStatus::kCompleted, 10), std::nullopt);
  progress.set_waiting(2);
  progress.started(2, 110);
  CHECK(progress.time_left_s(110) == 30.0);
  CHECK(progress.time_left_s(114) == 26.0);
  CHECK(progress.time_left_s(150) == 20.0);  // overdue: it may end any time
}

TEST_CASE("Before a run has ended the user's estimate counts", "[runner][progress]") {
  const Progress progress = progress_of(2, 4, 60);
  CHECK(progress.time_left_s(100) == 120.0);  // two concurrent runs
}

TEST_CASE("Runs at once share the time left, but the longest is not shared", "[runner][progress]") {
  Progress progress = progress_of(4, 2, 10);
  progress.started(1, 100);
  progress.set_waiting(0);
  CHECK(progress.time_left_s(100) == 10.0);
}

TEST_CASE("Every planned run is in one count", "[runner][progress]") {
  Progress progress = progress_of(1, 3);
  progress.ended(record_of(1, RunStatus::kFailed, 1), std::nullopt);
  CHECK(progress.counts().failed == 1);
  CHECK(progress.counts().remaining == 2);
  progress.ended(record_of(1, RunStatus::kCompleted, 1), RunStatus::kFailed);
  CHECK(progress.counts().failed == 0);
  CHECK(progress.counts().completed == 1);
  CHECK(progress.counts().remaining == 2);
}

TEST_CASE("On a terminal one line is redrawn, fitted to its width", "[runner][progress]") {
  Printed printed;
  printed.width = 100;
  auto printer = printed.printer(true);
  Progress progress = progress_of(1, 20);
  progress.started(1, 100);
  printer.started(progress, printed.run(1), 1);
  progress.ended(record_of(1, RunStatus::kCompleted, 125), std::nullopt);
  progress.set_waiting(1);
  printer.ended(progress, printed.run(1), record_of(1, RunStatus::kCompleted, 125), "a", false);
  printer.started(progress, printed.run(2), 1);
  CHECK(printer.tick(progress, 225) == 1.0);
  CHECK(printed.taken() == "\r\x1b[K[1/20] #2 x=2 · #1: 861.2 images/s · 2:05 · ETA 2:05");

  CHECK(printer.tick(progress, 225.5) == 0.5);  // not yet
  CHECK(printed.taken().empty());
  printed.width = 41;
  printer.tick(progress, 226);
  CHECK(printed.taken() == "\r\x1b[K[1/20] … · #1: 861.2 images/s · 2:06 · …");  // 40 columns
}

TEST_CASE("The line has what went wrong, and all responses there is room for",
          "[runner][progress]") {
  Printed printed;
  study::Response p99;
  p99.name = "p99";
  p99.unit = "ms";
  printed.directory.study.responses.push_back(p99);
  printed.width = 80;
  auto printer = printed.printer(true);
  Progress progress = progress_of(1, 20);
  auto record = record_of(1, RunStatus::kCompleted, 60);
  record.responses["p99"] = 46;
  progress.ended(record, std::nullopt);
  progress.retried();
  progress.set_waiting(1);
  printer.ended(progress, printed.run(1), record, "a", false);
  printer.started(progress, printed.run(2), 1);
  printer.tick(progress, 160);
  CHECK(printed.taken() ==
        "\r\x1b[K[1/20] #2 x=2 · #1: 861.2 images/s p99 46 ms · 1:00 · ETA 1:00 · 1 retry");
  printed.width = 64;
  printer.tick(progress, 162);
  CHECK(printed.taken() ==
        "\r\x1b[K[1/20] #2 x=2 · #1: 861.2 images/s · 1:02 · ETA 1:00 · 1 retry");
}

TEST_CASE("Failures get a line of their own, above the status line", "[runner][progress]") {
  Printed printed;
  printed.width = 100;
  auto printer = printed.printer(true, true);
  Progress progress = progress_of(1, 20);
  printer.tick(progress, 100);
  printed.taken();
  const auto failed = record_of(3, RunStatus::kFailed, 1);
  progress.ended(failed, std::nullopt);
  printer.ended(progress, printed.run(3), failed,
                std::filesystem::current_path() / "fccd/runs/0003.1", true);
  CHECK(printed.taken() ==
        "\r\x1b[K\x1b[31m[0/20] #3 x=3 failed after 1.0 s: exit code 3; output in "
        "fccd/runs/0003.1; retrying\x1b[0m\n");
}

TEST_CASE("Elsewhere there are plain lines, and one a minute while nothing happens",
          "[runner][progress]") {
  Printed printed;
  auto printer = printed.printer(false);
  Progress progress = progress_of(1, 20);
  printer.tick(progress, 100);
  progress.started(1, 100);
  printer.started(progress, printed.run(1), 1);
  progress.ended(record_of(1, RunStatus::kCompleted, 12.34), std::nullopt);
  printer.ended(progress, printed.run(1), record_of(1, RunStatus::kCompleted, 12.34), "a", false);
  CHECK(printed.taken() == "[1/20] #1 x=1 completed in 12.3 s: 861.2 images/s\n");
  CHECK(printer.tick(progress, 112) == 60.0);
  CHECK(printer.tick(progress, 150) == 22.0);
  CHECK(printed.taken().empty());
  progress.set_waiting(1);
  CHECK(printer.tick(progress, 172) == 60.0);
  CHECK(printed.taken() == "[1/20] 0 in progress · 1:12 · ETA 0:12\n");
}

TEST_CASE("The status line is cleared at the end", "[runner][progress]") {
  Printed printed;
  printed.width = 80;
  {
    auto printer = printed.printer(true);
    printer.tick(progress_of(1, 20), 100);
    printed.taken();
  }
  CHECK(printed.taken() == "\r\x1b[K");
}

TEST_CASE("Durations are read as clocks are", "[runner][progress]") {
  CHECK(runner::clock_text(7) == "0:07");
  CHECK(runner::clock_text(125.4) == "2:05");
  CHECK(runner::clock_text(3600 * 3 + 4 * 60 + 5) == "3:04:05");
  CHECK(runner::clock_text(-1) == "0:00");
}
