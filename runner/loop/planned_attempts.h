// The attempts of a plan without executing them: for checks and --dry-run.
#pragma once

#include <optional>
#include <vector>

#include "runner/attempts/attempt.h"
#include "runner/loop/run_options.h"

namespace doetune::runner {

/// A run as it would be started, for --dry-run.
struct PlannedAttempt {
  int run = 0;
  Slot slot;
  Attempt attempt;
  std::optional<Attempt> server = {};  ///< set up before it: for the first run of a whole plot
};

/// Throws RunError for any run of the plan, or hook after it, that could not be started anywhere:
/// an unknown placeholder, a missing program.
void check_attempts(const study::StudyDirectory& directory, Launcher& launcher);

/// The same for a plan that other machines execute: without its hooks, and without a look for its
/// programs.
void check_attempts_elsewhere(const study::StudyDirectory& directory);

/// The runs that run_study would start, in order. Throws RunError like run_study; writes nothing.
std::vector<PlannedAttempt> planned_attempts(const study::StudyDirectory& directory,
                                             const RunOptions& options, const Launcher& launcher);

}  // namespace doetune::runner
