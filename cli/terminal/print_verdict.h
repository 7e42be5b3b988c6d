// Prints the result of an analysis on the terminal.
#pragma once

#include <string>

#include "analysis/analysis.h"
#include "analysis/verdict.h"

namespace doetune::cli {

/// The badge, the headline and the caveats, in lines of at most 80 columns.
void print_verdict(const analysis::Verdict& verdict);

/// The best measured run beside the best predicted settings, after an empty line; nothing without
/// both.
void print_preference(const analysis::Analysis& analysis);

/// What to do next: a command, or where there is none, a clause that tells the user.
std::string next_of(const analysis::Verdict& verdict);

}  // namespace doetune::cli
