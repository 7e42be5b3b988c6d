// Prints the result of an analysis on the terminal.
#pragma once

#include "analysis/verdict.h"

namespace doetune::cli {

/// The badge, the headline and the caveats, in lines of at most 80 columns.
void print_verdict(const analysis::Verdict& verdict);

}  // namespace doetune::cli
