// Options of the commands that search: PATH, --budget and --output.
#pragma once

#include "cli/command.h"
#include "study/study.h"

namespace doetune::cli {

/// Declares the positional argument PATH, --budget and --output.
void add_search(Options& options);

/// The value of an option that is an integer of at least 1. Throws UsageError.
int positive_option(const Options& options, const char* name, int otherwise);

/// --budget, by default tuning::default_budget.
int search_budget(const Options& options, const study::Study& study);

}  // namespace doetune::cli
