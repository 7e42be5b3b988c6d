// From what a request leaves open to a design in whole plots.
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

/// The best design of one of several allocations, ascending in whole plots. Which one short
/// searches tell: of some that are evenly spread, then of those between the neighbours of the best.
/// `problem` holds all but the number of runs and of whole plots. Empty where no design that
/// determines the model was found.
std::optional<SplitPlotDesign> split_plot_design(const SplitPlotProblem& problem,
                                                 const std::vector<Allocation>& choices,
                                                 const SearchSettings& settings);

}  // namespace doetune::doe
