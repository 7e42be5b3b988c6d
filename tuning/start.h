// The first runs of a search.
#pragma once

#include <vector>

#include "tuning/problem.h"

namespace doetune::tuning {

/// The number of initial runs for this budget: 2 k + 2 for k factors, at most half of the budget.
int start_size(const Problem& problem, int budget);

/// Space-filling settings of the region: where settings fail is unknown, and so is the shape of the
/// responses. The baseline comes first, if every factor has one. Runs with the same hard-to-change
/// settings follow each other: 2 h + 2 whole plots for h such factors, of two runs and more. Throws
/// doe::DesignError.
std::vector<Settings> start(const Problem& problem, int runs);

}  // namespace doetune::tuning
