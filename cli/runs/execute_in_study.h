// What the commands that execute runs do around them.
#pragma once

#include <string_view>

#include "cli/command.h"
#include "study/directory/directory.h"

namespace doetune::cli {

/// Prints how to continue interrupted runs, and returns the exit code. If there is a file `stop`,
/// it must be removed first.
int conclude_interrupted(const study::StudyDirectory& directory, std::string_view command);

/// Opens the study named by the options and returns the result of `execute`. Run errors are
/// reported with their position in the study file.
int execute_in_study(const Options& options,
                     int (*execute)(const Options& options, study::StudyDirectory& directory));

}  // namespace doetune::cli
