// Planned runs on the terminal, and how they were found.
#pragma once

#include "study/plan.h"

namespace doetune::cli {

/// The runs from index `first` on, so many as fit a screen.
void print_runs(const study::Study& study, const study::Plan& plan, int first);

void print_search(const doe::SearchReport& search);

}  // namespace doetune::cli
