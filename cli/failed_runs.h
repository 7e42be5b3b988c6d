// What went wrong with runs that did not complete, and the command that leads on.
#pragma once

#include <string>

#include "analysis/run_quality.h"
#include "runner/loop/progress.h"
#include "study/directory.h"

namespace doetune::cli {

/// Runs that ended alike, with the file that has what the last of them printed and its last line:
///
///   runs 1 to 14 failed: exit code 3
///     fccd/runs/0014.1/stderr: ImportError: no module named torch
///
/// Empty where every run that was tried has completed.
std::string failures_text(const study::StudyDirectory& directory, const analysis::Records& records);

/// The command after runs were made, in vain or not: `check` where none has completed of those that
/// were tried, `run` where `missing` are left, else `report`.
std::string command_after_runs(const study::StudyDirectory& directory,
                               const runner::RunCounts& counts, int missing);

}  // namespace doetune::cli
