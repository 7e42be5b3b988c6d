// What fitting the confirmation runs as well changes.
#pragma once

#include "analysis/analysis.h"

namespace doetune::cli {

/// The numbers of runs, sigma and predicted R² of each response and the best configuration, before
/// and after, and an empty line.
void print_changes(const analysis::Analysis& before, const analysis::Analysis& after);

}  // namespace doetune::cli
