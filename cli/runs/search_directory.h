// The study directory of a search: an existing one, or that of a study file.
#pragma once

#include <functional>

#include "cli/command.h"
#include "study/directory/directory.h"

namespace doetune::cli {

/// Whether doetune executes the runs, so that the study's program is checked, or the user does.
enum class Executes { kDoetune, kUser };

/// Opens the study directory that PATH names, or that of the study file PATH; where there is none
/// yet, creates it with the first runs of a search, after `check_options`, which may throw
/// UsageError.
study::StudyDirectory search_directory(
    const Options& options, Executes by,
    const std::function<void(const study::Study&)>& check_options = {});

}  // namespace doetune::cli
