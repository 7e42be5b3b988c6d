// Executes a single trial run of a study, for `doetune check`.
#pragma once

#include <filesystem>
#include <string>

#include "study/directory/directory.h"
#include "study/run_record.h"

namespace doetune::cli {

struct SmokeRun {
  study::PlannedRun run;     ///< from the plan
  study::RunRecord record;   ///< its outcome
  std::string printed;       ///< last lines of the program's output and errors
  bool interrupted = false;  ///< stopped by the user
};

/// The planned run nearest to the centre of the region.
const study::PlannedRun& central_run(const study::StudyDirectory& planned);

/// Executes that run once in a scratch directory, which is removed afterwards: a temporary one, or
/// one next to the study file if runs are executed on other machines. Hooks are not run. Progress
/// is shown on standard error.
SmokeRun make_smoke_run(const study::StudyDirectory& planned);

/// The last lines that the program of an attempt wrote to its output and errors, printable.
std::string printed_in(const std::filesystem::path& attempt);

/// Cleans up after killed smoke runs: their processes on this machine, and scratch directories. A
/// run on another machine is asked to stop; its scratch directory stays until it has ended.
void remove_left_smoke_runs(const study::StudyDirectory& planned);

}  // namespace doetune::cli
