// Coordinate exchange from many random starts.
#pragma once

#include <optional>

#include "doe/optimal/exchange.h"
#include "doe/optimal/multi_start.h"

namespace doetune::doe {

/// The difference in value below which designs count as equally good: 1e-6 of |M|^(1/p), or of the
/// trace.
double equality_tolerance(const ExchangeProblem& problem);

/// The best design over many random starts; value is as in exact_value, and best_found counts the
/// starts that ended within equality_tolerance of the best. Each numbered start has its own random
/// stream; unless time runs out, the result is the same for any number of threads. Empty if every
/// design found is singular. `core`: rows of a good design of at most as many runs, with which the
/// first start begins and, if it has fewer rows, every other start too; may be empty.
std::optional<SearchResult> search_designs(const ExchangeProblem& problem,
                                           const SearchSettings& settings,
                                           const Eigen::MatrixXd& core = {});

/// Throws DesignError if the model has terms of a categorical factor with a level that neither the
/// region, as far as a sample of it shows, nor existing runs have: a search would find nothing.
void check_levels(const DesignRequest& request);

/// The error for a search without a result.
DesignError nothing_found(int runs);

}  // namespace doetune::doe
