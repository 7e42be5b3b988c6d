// One run of a study, made apart from it: what `doetune check` learns from.
#pragma once

#include <filesystem>
#include <string>

#include "study/directory.h"
#include "study/run_record.h"

namespace doetune::cli {

struct SmokeRun {
  study::PlannedRun run;     ///< as planned
  study::RunRecord record;   ///< what became of it
  std::string printed;       ///< the last lines of the program's output and errors
  bool interrupted = false;  ///< by the user
};

/// The planned run nearest the centre of the region.
const study::PlannedRun& central_run(const study::StudyDirectory& planned);

/// Executes that run once in a scratch directory, which is removed: a temporary one, or beside the
/// study file where runs are executed on other machines. Hooks are left out. Progress is told on
/// standard error.
SmokeRun make_smoke_run(const study::StudyDirectory& planned);

/// Ends what a smoke run left that was killed: processes of this machine, its scratch directory.
void remove_left_smoke_runs(const study::StudyDirectory& planned);

}  // namespace doetune::cli
