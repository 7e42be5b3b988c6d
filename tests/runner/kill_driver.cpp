// Runs a fake study that a test kills at any time: kill_driver DIRECTORY RUNS JOBS WORKLOAD LOG.
// Prints "RUN ATTEMPT" for each run once it is acknowledged.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "runner/launchers/local_launcher.h"
#include "runner/loop/run_study.h"
#include "tests/runner/fake_study.h"
#include "tests/runner/silent.h"

namespace {

struct Announcer : doetune::tests::SilentSink {
  void ended(const doetune::runner::Progress&, const doetune::study::PlannedRun& run,
             const doetune::study::RunRecord& record, const std::filesystem::path&, bool) override {
    if (record.status != doetune::study::RunStatus::kCompleted) return;
    const std::string line = std::to_string(run.run) + " " + std::to_string(record.attempt) + "\n";
    if (::write(STDOUT_FILENO, line.data(), line.size()) < 0) std::abort();
  }
};

}  // namespace

int main(int, char** arguments) {
  auto directory =
      doetune::tests::fake_study(arguments[1], std::atoi(arguments[2]),
                                 {arguments[4], "{run}", "{attempt}", "{result}", arguments[5]});
  doetune::runner::RunOptions options;
  options.jobs = std::atoi(arguments[3]);
  doetune::runner::LocalLauncher launcher;
  Announcer announcer;
  doetune::tests::FakeInterrupts interrupts;
  try {
    const auto summary =
        doetune::runner::run_study(directory, options, launcher, announcer, interrupts);
    return summary.counts.completed == summary.counts.planned ? 0 : 5;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "kill_driver: %s\n", error.what());
    return 1;
  }
}
