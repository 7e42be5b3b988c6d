// Many descents from random starts, and the judgement whether more would help.
#pragma once

#include "doe/optimal/minimax_descent.h"
#include "doe/optimal/search.h"

namespace doetune::doe {

/// The design of smallest largest prediction variance d among many random starts; value is
/// -ln max d. The descents are rough, and the few best of every round of starts are refined and
/// settled on usable settings; best_found counts the starts within 1e-3 of the best before that.
/// The starts are numbered and each has random numbers of its own; unless time runs out, the result
/// is the same for any number of threads. Empty where every design that was found is singular.
std::optional<SearchResult> search_minimax(const MinimaxProblem& problem,
                                           const SearchSettings& settings);

}  // namespace doetune::doe
