// Chooses the allocation of a split-plot design and searches for the design.
#pragma once

#include <optional>
#include <vector>

#include "doe/optimal/budget.h"
#include "doe/optimal/search.h"
#include "doe/optimal/split_plot.h"

namespace doetune::doe {

struct SplitPlotDesign {
  Allocation allocation;
  std::vector<int> whole_plots;  ///< of each run, from 1
  SearchResult search;
};

/// The best design of one of several allocations, ascending in whole plots. Short searches choose
/// the allocation: first among a few evenly spaced ones, then among those between the neighbours of
/// the best. `problem` holds everything except the numbers of runs and whole plots. Empty if no
/// design that determines the model was found.
std::optional<SplitPlotDesign> split_plot_design(const SplitPlotProblem& problem,
                                                 const std::vector<Allocation>& choices,
                                                 const SearchSettings& settings);

}  // namespace doetune::doe
