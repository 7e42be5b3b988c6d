// The output of --help, from the tables of commands and options.
#pragma once

#include <string>

#include "cli/command.h"

namespace doetune::cli {

/// Summary, examples, usage and options of a command, in 80 columns.
std::string help_text(const Command& command, const Options& options);

/// All commands, one line each.
std::string commands_text();

/// "doetune plan STUDY.yaml", "doetune schema".
std::string usage_text(const Command& command);

}  // namespace doetune::cli
