// What a search for a design by D, I, A or two of them says of its result.
#pragma once

#include <Eigen/Core>
#include <string>

#include "doe/optimal/search.h"

namespace doetune::doe {

// The weights below have the sum 1, and i or a is 0.

/// W of tr(M^-1 W), p x p of the request's model: the identity for a, the region's moments for i.
Eigen::MatrixXd trace_weight(const CriterionWeights& weights, const DesignRequest& request);

/// Without blocks, whole plots, earlier runs, terms that only may matter, and constraints.
bool is_plain(const DesignRequest& request);

/// Of words alone, main effects alone: all combinations together are best by D and by I, since
/// their variance is the same at every point (Kiefer & Wolfowitz 1960).
bool is_plan_of_words(const DesignRequest& request);

/// With the bound on what a design of any size can reach, for plain requests where one is proven.
SearchReport search_report(const CriterionWeights& weights, const DesignRequest& request,
                           const ExchangeProblem& problem, const SearchResult& found,
                           double all_runs);

/// What a compound design is worth by both criteria, in words; empty for one criterion, and in
/// whole plots.
std::string both_criteria(const CriterionWeights& weights, const DesignRequest& request,
                          ExchangeProblem problem, const SearchResult& found, double all_runs);

}  // namespace doetune::doe
