// Whether what a study wants to run is there and can do it, asked before anything is planned.
#pragma once

#include <string>
#include <vector>

#include "runner/processes/run_error.h"
#include "study/directory.h"

namespace doetune::cli {

/// Throws study::StudyError: neither workload nor command, an unknown launcher or workload, a
/// factor, setting or response that the workload does not know (with the nearest it does), an
/// unknown placeholder, a program that is not there.
void check_program(const study::StudyDirectory& planned);

/// Throws what a study cannot be run for as a StudyError, with its place in the study file where it
/// has one.
[[noreturn]] void report_with_location(const study::Study& study, const runner::RunError& error);

/// "note: ..." for each factor that `command` does not pass on though it does others: the program
/// hears of it only through the file that DOETUNE_REQUEST names.
std::vector<std::string> notes_on_command(const study::Study& study);

}  // namespace doetune::cli
