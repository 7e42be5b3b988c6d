// Options of the commands that search: PATH, --budget, --tolerance, --output and --front.
#pragma once

#include "cli/command.h"
#include "study/directory/search_state.h"
#include "study/study.h"

namespace doetune::cli {

/// Declares the positional argument PATH, --budget, --tolerance, --output and --front.
void add_search(Options& options);

/// The value of an option that is an integer of at least 1. Throws UsageError.
int positive_option(const Options& options, const char* name, int otherwise);

/// The limits of a search with --budget, --tolerance and --front in them; what is not given is as
/// before. Throws UsageError, also for --front if the study has one goal only.
study::SearchState limits_given(const Options& options, const study::Study& study,
                                study::SearchState before = {});

}  // namespace doetune::cli
