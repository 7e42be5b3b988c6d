// Report of a search for a D-, I-, A- or compound-optimal design.
#pragma once

#include <Eigen/Core>
#include <string>

#include "doe/optimal/search.h"

namespace doetune::doe {

// Weights below are normalised to sum 1, and at least one of i and a is 0.

/// W of tr(M^-1 W), p x p for the request's model: the identity for A, the moment matrix for I.
Eigen::MatrixXd trace_weight(const CriterionWeights& weights, const DesignRequest& request);

/// Whether the request has no blocks, whole plots, earlier runs, potential terms or constraints.
bool is_plain(const DesignRequest& request);

/// Whether the request has categorical factors and main effects only: the full factorial is then D-
/// and I-optimal, since its variance is the same at every point (Kiefer & Wolfowitz 1960).
bool is_plan_of_words(const DesignRequest& request);

/// The report, with a bound on designs of any size for plain requests where one is proven.
SearchReport search_report(const CriterionWeights& weights, const DesignRequest& request,
                           const ExchangeProblem& problem, const SearchResult& found,
                           double all_runs);

/// The values of a compound design by both criteria, as text; empty for a single criterion, and for
/// whole plots.
std::string both_criteria(const CriterionWeights& weights, const DesignRequest& request,
                          ExchangeProblem problem, const SearchResult& found, double all_runs);

}  // namespace doetune::doe
