// Many exchanges from random starts.
#pragma once

#include <optional>

#include "doe/optimal/exchange.h"
#include "doe/optimal/multi_start.h"

namespace doetune::doe {

/// By how much the values of equally good designs differ: 1e-6 of |M|^(1/p), or of the trace.
double equality_tolerance(const ExchangeProblem& problem);

/// The best design of many random starts; value is as exact_value, best_found counts the starts
/// that ended at the best but for equality_tolerance. The starts are numbered and each has random
/// numbers of its own; unless time runs out, the result is the same for any number of threads.
/// Empty where every design that was found is singular. `core`: rows of a good design of fewer runs
/// (or as many), with which the first start and, if other rows are left, every other one begins;
/// may be empty.
std::optional<SearchResult> search_designs(const ExchangeProblem& problem,
                                           const SearchSettings& settings,
                                           const Eigen::MatrixXd& core = {});

/// What to tell a user whose search ended empty.
DesignError nothing_found(int runs);

}  // namespace doetune::doe
