// Summarises runs that did not complete, and suggests the next command.
#pragma once

#include <string>

#include "analysis/run_quality.h"
#include "runner/loop/progress.h"
#include "study/directory/directory.h"

namespace doetune::cli {

/// Runs grouped by how they ended, each group with the output file of its last run and its last
/// line:
///
///   runs 1 to 14 failed: exit code 3
///     fccd/runs/0014.1/stderr: ImportError: no module named torch
///
/// Empty if all attempted runs have completed.
std::string failures_text(const study::StudyDirectory& directory, const analysis::Records& records);

/// The command to suggest after running: `check` if no attempted run has completed, `run` if runs
/// are `missing`, otherwise `report`.
std::string command_after_runs(const study::StudyDirectory& directory,
                               const runner::RunCounts& counts, int missing);

}  // namespace doetune::cli
