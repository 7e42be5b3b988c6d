// `doetune run --dry-run`: the runs that would be executed, where, and their duration.
#pragma once

#include "runner/loop/planned_attempts.h"

namespace doetune::cli {

void print_dry_run(const study::StudyDirectory& directory,
                   const std::vector<runner::PlannedAttempt>& planned);
void print_dry_run_json(const study::StudyDirectory& directory,
                        const std::vector<runner::PlannedAttempt>& planned);

}  // namespace doetune::cli
