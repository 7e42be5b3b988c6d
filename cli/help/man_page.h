// Manual pages in roff (man(7)), from the tables of commands, options and the study file.
#pragma once

#include <string>

#include "cli/command.h"

namespace doetune::cli {

/// doetune(1): the commands and the exit codes.
std::string main_page();

/// doetune-plan(1), and so on.
std::string command_page(const Command& command);

/// doetune-study(5): every key of the study file.
std::string study_page();

}  // namespace doetune::cli
