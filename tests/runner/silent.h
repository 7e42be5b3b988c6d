// Progress without output, and a user who never interrupts.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "runner/loop/interrupts.h"
#include "runner/loop/progress.h"

namespace doetune::tests {

struct SilentSink : runner::ProgressSink {
  std::vector<std::string> notes;
  std::vector<int> retried;

  void started(const runner::Progress&, const study::PlannedRun&, int) override {}
  void setting_up(const study::PlannedRun&) override {}
  void ended(const runner::Progress&, const study::PlannedRun& run, const study::RunRecord&,
             const std::filesystem::path&, bool again) override {
    if (again) retried.push_back(run.run);
  }
  void note(const std::string& text) override { notes.push_back(text); }
  double tick(const runner::Progress&, double) override {
    return std::numeric_limits<double>::infinity();
  }
};

struct FakeInterrupts : runner::Interrupts {
  int seen = 0;

  int count() override { return seen; }
  int descriptor() const override { return -1; }
};

}  // namespace doetune::tests
