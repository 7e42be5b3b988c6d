// Options of the commands that search: PATH, --budget, --output and --front.
#pragma once

#include "cli/command.h"
#include "study/study.h"

namespace doetune::cli {

/// Declares the positional argument PATH, --budget, --output and --front.
void add_search(Options& options);

/// The value of an option that is an integer of at least 1. Throws UsageError.
int positive_option(const Options& options, const char* name, int otherwise);

/// --front. Throws UsageError if the study has one goal only.
bool searches_front(const Options& options, const study::Study& study);

/// --budget, by default tuning::default_budget.
int search_budget(const Options& options, const study::Study& study);

}  // namespace doetune::cli
