// Options of the commands that execute runs: --jobs, --launcher and --gpus.
#pragma once

#include <memory>

#include "cli/command.h"
#include "runner/launchers/launcher.h"
#include "runner/loop/run_study.h"
#include "study/directory/directory.h"

namespace doetune::cli {

/// Declares --jobs, --launcher and --gpus.
void add_run_options(Options& options);

/// The values of --jobs and --gpus. Throws UsageError.
runner::RunOptions run_options(const Options& options);

/// The launcher named by --launcher, by default the study's.
std::unique_ptr<runner::Launcher> make_launcher(const Options& options,
                                                const study::StudyDirectory& directory);

}  // namespace doetune::cli
