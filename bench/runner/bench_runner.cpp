// The overhead of the runner per run: bench_runner [RUNS [PRIOR_RUNS]].
//
// Executes RUNS runs of a workload that does nothing, first in a new study, then in one whose
// journal already holds PRIOR_RUNS, and measures wall time, processor time of the runner, and the
// time to load the journal. The study is in the directory that TMPDIR names, whose disk affects the
// result.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <vector>

#include "base/clock.h"
#include "runner/launchers/local_launcher.h"
#include "runner/loop/run_study.h"
#include "study/directory/journal.h"
#include "study/telemetry_quantities.h"
#include "tests/runner/fake_study.h"
#include "tests/runner/silent.h"
#include "tests/temporary_directory.h"

using namespace doetune;

namespace {

double cpu_s(int who) {
  rusage usage{};
  ::getrusage(who, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// The times at which runs were acknowledged.
struct Stopwatch : tests::SilentSink {
  std::vector<double> ended_s;

  void ended(const runner::Progress&, const study::PlannedRun&, const study::RunRecord&,
             const std::filesystem::path&, bool) override {
    ended_s.push_back(monotonic_s());
  }
};

double quantile(std::vector<double> values, double part) {
  const auto at = values.begin() + static_cast<long>(part * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

void fill_journal(const study::StudyDirectory& directory, int runs) {
  study::RunRecord record;
  record.status = study::RunStatus::kCompleted;
  record.exit_code = 0;
  record.host = "node1";
  record.start = "2026-11-21T07:38:18.123Z";
  record.duration_s = 12.345678;
  record.responses = {{"y", 1.0 / 3}, {"processing_time", 0.7512}, {"power", 283.25}};
  record.cpus = "0-7";
  record.steady = true;
  record.half_width = {{"y", 1.0 / 300}};
  for (const study::Quantity& quantity : study::telemetry_quantities()) {
    record.telemetry[std::string(quantity.name)] = 33.3333;
  }
  record.bottleneck = "host_cpu";
  record.evidence = "the cores assigned were 97 % busy while the GPU was 31 % busy";
  record.conditions = "514da3a9a13a1d25";
  study::Journal journal(directory.journal(), directory.study.name, directory.plan_hash);
  for (record.run = 1; record.run <= runs; ++record.run) journal.append(record);
}

void measure_runs(const std::string& what, const study::StudyDirectory& directory) {
  runner::LocalLauncher launcher;
  Stopwatch stopwatch;
  tests::FakeInterrupts interrupts;
  const double began_cpu_s = cpu_s(RUSAGE_SELF);
  runner::run_study(directory, {}, launcher, stopwatch, interrupts);
  const double used_cpu_s = cpu_s(RUSAGE_SELF) - began_cpu_s;
  std::vector<double> each_ms;
  for (std::size_t i = 1; i < stopwatch.ended_s.size(); ++i) {
    each_ms.push_back(1000 * (stopwatch.ended_s[i] - stopwatch.ended_s[i - 1]));
  }
  fmt::print("| {} | {:.2f} | {:.2f} | {:.2f} |\n", what, quantile(each_ms, 0.5),
             quantile(each_ms, 0.95),
             1000 * used_cpu_s / static_cast<double>(stopwatch.ended_s.size()));
}

double best_ms(const std::function<void()>& action) {
  double best = 1e9;
  for (int i = 0; i < 5; ++i) {
    const double began_s = monotonic_s();
    action();
    best = std::min(best, 1000 * (monotonic_s() - began_s));
  }
  return best;
}

}  // namespace

int main(int count, char** arguments) {
  const int runs = count > 1 ? std::atoi(arguments[1]) : 500;
  const int prior_runs = count > 2 ? std::atoi(arguments[2]) : 10000;
  const tests::TemporaryDirectory temporary;

  fmt::print("| runs before | wall ms a run, median | 95 % | CPU ms of the runner a run |\n");
  fmt::print("| --- | --- | --- | --- |\n");
  measure_runs("0", tests::fake_study(temporary / "new", runs, {NOOP_WORKLOAD}));
  const auto old = tests::fake_study(temporary / "old", prior_runs + runs, {NOOP_WORKLOAD});
  fill_journal(old, prior_runs);
  measure_runs(fmt::format("{}", prior_runs), old);

  const double load_ms = best_ms([&] { study::read_journal(old.journal()); });
  fmt::print("\nA journal of {} records ({:.1f} MB) loads in {:.0f} ms.\n", prior_runs + runs,
             static_cast<double>(std::filesystem::file_size(old.journal())) / 1e6, load_ms);
}
