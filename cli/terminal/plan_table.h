// Prints planned runs and the design search on the terminal.
#pragma once

#include "study/plan.h"

namespace doetune::cli {

/// Prints the runs from index `first`, as many as fit a screen.
void print_runs(const study::Study& study, const study::Plan& plan, int first);

void print_search(const doe::SearchReport& search);

}  // namespace doetune::cli
