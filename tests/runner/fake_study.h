// A study with one factor x and one response y, constructed in code.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "study/directory/directory.h"

namespace doetune::tests {

/// A study directory at `path` with `runs` runs: run i sets x = i and executes `command`.
inline study::StudyDirectory fake_study(const std::filesystem::path& path, int runs,
                                        std::vector<std::string> command) {
  std::filesystem::create_directories(path);
  study::StudyDirectory directory;
  directory.path = path;
  directory.plan_hash = "fake";
  directory.working_directory = path;
  directory.study.name = "fake";
  directory.study.command = std::move(command);
  directory.study.run.retries = {0, 0};
  directory.study.run.timeout_s = 60;
  directory.study.run.stop_grace_s = 0.2;
  doe::Factor x;
  x.name = "x";
  x.kind = doe::FactorKind::kInteger;
  x.low = 1;
  x.high = runs;
  directory.study.factors = {x};
  study::Response y;
  y.name = "y";
  y.unit = "images/s";
  directory.study.responses = {y};
  for (int run = 1; run <= runs; ++run) {
    study::PlannedRun planned;
    planned.run = run;
    planned.standard_order = run;
    planned.settings = {static_cast<double>(run)};
    directory.plan.runs.push_back(planned);
  }
  return directory;
}

/// fake_study with a shell script as the command; braces in it must be doubled.
inline study::StudyDirectory shell_study(const std::filesystem::path& path, int runs,
                                         const std::string& script) {
  return fake_study(path, runs, {"sh", "-c", script, "workload", "{x}", "{result}"});
}

}  // namespace doetune::tests
