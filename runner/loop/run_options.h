// What `doetune run` is asked for on the command line.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "runner/attempts/slots.h"
#include "runner/launchers/launcher.h"
#include "runner/loop/early_endings.h"
#include "runner/loop/schedule.h"
#include "study/directory/directory.h"

namespace doetune::runner {

struct RunOptions {
  std::optional<int> jobs;        ///< concurrent runs, overrides the study
  std::vector<std::string> gpus;  ///< to divide among the runs; empty: 0, 1, ...
  std::vector<int> only;          ///< run numbers; empty: all of the plan
  std::set<study::RunStatus> again = Selection{}.again;  ///< statuses of earlier attempts to retry
  EndsEarly ends_early = {};                             ///< empty: every run goes on to its end
};

/// The runs to execute, by the options and the study.
Selection selection_of(const study::StudyDirectory& directory, const RunOptions& options);

/// Where they can be executed. Throws RunError like SlotPool and Launcher::capacities.
SlotPool pool_of(const study::StudyDirectory& directory, const RunOptions& options,
                 const Launcher& launcher);

}  // namespace doetune::runner
