// The function of every subcommand, one a source file; for commands.cpp.
#pragma once

#include <string>
#include <vector>

#include "cli/command.h"

namespace doetune::cli {

using Arguments = std::vector<std::string>;

int command_init(const Command& command, const Arguments& arguments);
int command_plan(const Command& command, const Arguments& arguments);
int command_evaluate(const Command& command, const Arguments& arguments);
int command_augment(const Command& command, const Arguments& arguments);
int command_run(const Command& command, const Arguments& arguments);
int command_status(const Command& command, const Arguments& arguments);
int command_import(const Command& command, const Arguments& arguments);
int command_fit(const Command& command, const Arguments& arguments);
int command_optimize(const Command& command, const Arguments& arguments);
int command_confirm(const Command& command, const Arguments& arguments);
int command_report(const Command& command, const Arguments& arguments);
int command_doctor(const Command& command, const Arguments& arguments);
int command_designs(const Command& command, const Arguments& arguments);
int command_workloads(const Command& command, const Arguments& arguments);
int command_workload(const Command& command, const Arguments& arguments);
int command_schema(const Command& command, const Arguments& arguments);

}  // namespace doetune::cli
