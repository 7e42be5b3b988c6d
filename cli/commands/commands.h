// Entry points of all subcommands, one source file each, for commands.cpp: describe_X declares the
// options of command X, if it has any of its own.
#pragma once

#include <string>
#include <vector>

#include "cli/command.h"

namespace doetune::cli {

using Arguments = std::vector<std::string>;

void describe_init(Options& options);
int command_init(const Command& command, const Arguments& arguments);

void describe_check(Options& options);
int command_check(const Command& command, const Arguments& arguments);

void describe_plan(Options& options);
int command_plan(const Command& command, const Arguments& arguments);

void describe_evaluate(Options& options);
int command_evaluate(const Command& command, const Arguments& arguments);

void describe_tune(Options& options);
int command_tune(const Command& command, const Arguments& arguments);

void describe_next(Options& options);
int command_next(const Command& command, const Arguments& arguments);

void describe_tell(Options& options);
int command_tell(const Command& command, const Arguments& arguments);

void describe_augment(Options& options);
int command_augment(const Command& command, const Arguments& arguments);

void describe_run(Options& options);
int command_run(const Command& command, const Arguments& arguments);

void describe_status(Options& options);
int command_status(const Command& command, const Arguments& arguments);

void describe_replay(Options& options);
int command_replay(const Command& command, const Arguments& arguments);

void describe_restore(Options& options);
int command_restore(const Command& command, const Arguments& arguments);

void describe_import(Options& options);
int command_import(const Command& command, const Arguments& arguments);

void describe_fit(Options& options);
int command_fit(const Command& command, const Arguments& arguments);

void describe_optimize(Options& options);
int command_optimize(const Command& command, const Arguments& arguments);

void describe_confirm(Options& options);
int command_confirm(const Command& command, const Arguments& arguments);

void describe_report(Options& options);
int command_report(const Command& command, const Arguments& arguments);

void describe_export(Options& options);
int command_export(const Command& command, const Arguments& arguments);

int command_doctor(const Command& command, const Arguments& arguments);
int command_designs(const Command& command, const Arguments& arguments);
int command_workloads(const Command& command, const Arguments& arguments);

void describe_workload(Options& options);
int command_workload(const Command& command, const Arguments& arguments);

void describe_completion(Options& options);
int command_completion(const Command& command, const Arguments& arguments);

void describe_man(Options& options);
int command_man(const Command& command, const Arguments& arguments);

void describe_schema(Options& options);
int command_schema(const Command& command, const Arguments& arguments);

}  // namespace doetune::cli
