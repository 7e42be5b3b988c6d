// Checks before planning that the program of a study exists and supports its factors.
#pragma once

#include <string>
#include <vector>

#include "runner/processes/run_error.h"
#include "study/directory/directory.h"

namespace doetune::cli {

/// Where the programs of a study are.
enum class Programs {
  kHere,
  kElsewhere,  ///< on the machines that will execute the plan: they are not looked for
};

/// Throws study::StudyError if there is neither workload nor command, for an unknown launcher or
/// workload, for a factor, setting or response that the workload does not have (with the most
/// similar one), for an unknown placeholder, and for a missing program.
void check_program(const study::StudyDirectory& planned, Programs programs = Programs::kHere);

/// Throws a run error as a StudyError, with its position in the study file if it has one.
[[noreturn]] void report_with_location(const study::Study& study, const runner::RunError& error);

/// "note: ..." for each factor that `command` does not pass on although it passes others: the
/// program can read it only from the file named by DOETUNE_REQUEST.
std::vector<std::string> notes_on_command(const study::Study& study);

}  // namespace doetune::cli
