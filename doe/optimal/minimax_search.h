// Search for a G-optimal design by descents from many random starts.
#pragma once

#include "doe/optimal/minimax_descent.h"
#include "doe/optimal/search.h"

namespace doetune::doe {

/// The design with the smallest maximum prediction variance d over many random starts; value is -ln
/// max d. The descents are rough; the best few of every round of starts are refined and settled on
/// usable settings. best_found counts the starts within 1e-3 of the best before refinement. Each
/// numbered start has its own random stream; unless time runs out, the result is the same for any
/// number of threads. Empty if every design found is singular.
std::optional<SearchResult> search_minimax(const MinimaxProblem& problem,
                                           const SearchSettings& settings);

}  // namespace doetune::doe
