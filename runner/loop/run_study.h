// `doetune run`: executes what is missing of a plan.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "runner/launchers/launcher.h"
#include "runner/loop/interrupts.h"
#include "runner/loop/progress.h"
#include "runner/loop/schedule.h"
#include "study/directory.h"

namespace doetune::runner {

struct RunOptions {
  std::optional<int> jobs;        ///< runs at once, instead of the study's
  std::vector<std::string> gpus;  ///< to share out among them; empty: 0, 1, ...
  std::vector<int> only;          ///< run numbers; empty: all of the plan
  std::set<study::RunStatus> again = Selection{}.again;  ///< which earlier ends to try anew
};

struct RunSummary {
  RunCounts counts;          ///< of the whole plan
  int attempts = 0;          ///< that ended in this call
  bool interrupted = false;  ///< stopped by the user with runs left to do
  bool gave_up = false;      ///< stopped after a failure, as run.on_failure asks
};

/// One run as it would be started, for --dry-run.
struct PlannedAttempt {
  int run = 0;
  Slot slot;
  Attempt attempt;
};

/// Executes every run of the plan that has no final record, `jobs` at once, in run order; resumes
/// whatever an earlier call left, however that ended:
///
/// - An attempt is acknowledged once its record is in the journal (on the disk); a completed or
///   infeasible run is never executed again.
/// - An attempt that ended without being recorded is taken into the journal from its directory;
///   one that was cut off is recorded as lost, after what still runs of it has been killed.
/// - The first interrupt lets the runs under way finish, the second stops them. A file `stop` in
///   the study directory does what the first interrupt does, and stays until the user removes it.
/// - With `run.on_failure: stop` a run that failed for good does the same.
///
/// results.csv is written when the call ends, and at most once a second meanwhile: its cost grows
/// with the plan, that of a run must not. Commands run in the directory of the study file.
///
/// Throws RunError before anything is run for what cannot work: an unknown placeholder, a missing
/// program, fewer GPUs than a run needs. Throws study::DirectoryError for a directory in use by
/// another doetune, or one that cannot be written; what was acknowledged stays.
RunSummary run_study(const study::StudyDirectory& directory, const RunOptions& options,
                     Launcher& launcher, ProgressSink& progress, Interrupts& interrupts,
                     const std::function<double()>& now_s = monotonic_s);

/// Throws RunError for a run of the plan that could not be started anywhere, or a command after it:
/// an unknown placeholder, a missing program.
void check_attempts(const study::StudyDirectory& directory, const Launcher& launcher);

/// The runs that run_study would start, in order. Throws RunError as it does; writes nothing.
std::vector<PlannedAttempt> planned_attempts(const study::StudyDirectory& directory,
                                             const RunOptions& options, const Launcher& launcher);

}  // namespace doetune::runner
