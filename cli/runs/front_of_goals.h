// The Pareto front as the answer of a search.
#pragma once

#include "cli/command.h"
#include "study/directory/directory.h"

namespace doetune::cli {

/// Prints the Pareto front of the goals among the configurations that meet all limits, each line
/// with its predictions, and writes optimum.json, which `json` prints instead. Returns the exit
/// code: kNoSettingsMeetGoals for an empty front.
int conclude_front(const study::StudyDirectory& directory, bool json);

}  // namespace doetune::cli
