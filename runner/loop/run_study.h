// `doetune run`: executes the pending runs of a plan.
#pragma once

#include <functional>

#include "base/clock.h"
#include "runner/launchers/launcher.h"
#include "runner/loop/interrupts.h"
#include "runner/loop/progress.h"
#include "runner/loop/run_options.h"
#include "study/directory/directory.h"

namespace doetune::runner {

struct RunSummary {
  RunCounts counts;          ///< of the whole plan
  int attempts = 0;          ///< ended in this call
  bool interrupted = false;  ///< stopped by the user with runs left
  bool gave_up = false;      ///< stopped after failures (run.on_failure)
};

/// Executes every run of the plan without a final record, `jobs` concurrently, in run order.
/// Resumes after an earlier call, however that ended:
///
/// - An attempt is acknowledged once its record is in the journal, on disk; a run that is
///   decided (study::is_decided) is never executed again.
/// - An attempt that ended without being recorded is recorded from its directory; an
///   interrupted one is recorded as lost, after its remaining processes were killed.
/// - The first interrupt lets the runs in progress finish, the second stops them. A file `stop` in
///   the study directory acts like the first interrupt, and stays until the user removes it.
/// - A run that RunOptions::ends_early ends by its progress is stopped and recorded as such.
/// - A run whose settings were infeasible in another run is recorded as infeasible, not executed.
/// - With `run.on_failure: first-three` (the default) the call ends like this, too, if no run of
///   the plan has worked and the first three of this call fail alike: same exit code, same message.
/// - With `run.on_failure: stop` a run that failed finally acts like the first interrupt, too.
///
/// results.csv is written when the call ends, and at most once a second during it, because its cost
/// grows with the plan. Commands run in the directory of the study file.
///
/// Throws RunError before starting any run for errors in the study: an unknown placeholder, a
/// missing program, fewer GPUs than a run needs. Throws study::DirectoryError if the directory is
/// in use by another doetune or cannot be written; acknowledged records are kept.
RunSummary run_study(const study::StudyDirectory& directory, const RunOptions& options,
                     Launcher& launcher, ProgressSink& progress, Interrupts& interrupts,
                     const std::function<double()>& now_s = monotonic_s);

}  // namespace doetune::runner
