// The options of the commands that execute runs: how many at once, where, on which GPUs.
#pragma once

#include <memory>

#include "cli/command.h"
#include "runner/launchers/launcher.h"
#include "runner/loop/run_study.h"
#include "study/directory.h"

namespace doetune::cli {

/// Describes --jobs, --launcher and --gpus.
void add_run_options(Options& options);

/// --jobs and --gpus as given. Throws UsageError.
runner::RunOptions run_options(const Options& options);

/// The launcher that --launcher names, or the study's.
std::unique_ptr<runner::Launcher> make_launcher(const Options& options,
                                                const study::StudyDirectory& directory);

/// Says how runs that were stopped are continued, and returns the exit code. A file `stop` goes
/// first: with it nothing would be continued.
int conclude_interrupted(const study::StudyDirectory& directory, std::string_view command);

/// What `execute` returns of the study that the options name. What it cannot be run for is told
/// with its place in the study file.
int execute_in_study(const Options& options,
                     int (*execute)(const Options& options, study::StudyDirectory& directory));

}  // namespace doetune::cli
