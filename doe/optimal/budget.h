// The number of runs and whole plots of a request, from its options and its budget.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "doe/design.h"

namespace doetune::doe {

/// Runs beyond the number of model terms if the request gives no number of runs.
inline constexpr int kSpareRuns = 5;

/// Time limit of a search if the request gives none.
inline constexpr double kTimeLimit_s = 10;

/// The centre runs, which are part of every design. They cycle through the combinations of
/// categorical levels and through the blocks.
std::vector<DesignPoint> center_points(const DesignRequest& request);

/// Number of runs and of whole plots of one replicate.
struct Allocation {
  int runs = 0;
  int whole_plots = 0;  ///< 0: none, every run is independent
};

/// Minimum requirements of the model.
struct Needs {
  int coefficients = 1;  ///< minimum number of runs, including earlier ones
  int earlier_runs = 0;
  int usual_runs = 1;   ///< default if the request gives none
  int whole_plots = 0;  ///< minimum number; 0: the runs are not in whole plots

  int runs() const { return std::max(coefficients - earlier_runs, 1); }
};

/// Whether the runs are to be in whole plots: if a factor is hard to change. When runs are added to
/// earlier ones, only if whole_plots is given.
bool in_whole_plots(const DesignRequest& request);

/// The request for one replicate, with its fraction of the runs and whole plots. Throws DesignError
/// if these are not multiples of the number of replicates.
DesignRequest one_replicate(const DesignRequest& request);

/// The number of model columns that depend on hard-to-change factors only, including the intercept:
/// the minimum number of whole plots with which the model can be estimated.
int fewest_whole_plots(const Model& model);

/// Throws DesignError for inconsistent options of costs and whole plots.
void check_costs(const DesignRequest& request);

/// The possible allocations, ascending in whole plots. Each has the requested runs, or all that the
/// budget allows, or the default number:
///
///   replicates (runs run_cost + whole_plots change_cost) <= budget.
///
/// There are several only if whole plots are limited by cost alone; with neither a cost nor a
/// number given there is one, with up to two whole plots beyond the minimum. Throws DesignError if
/// none is feasible, stating what would be.
std::vector<Allocation> allocations(const DesignOptions& options, const Needs& needs);

/// The cost of all replicates of a design as text; empty if run_cost is not given.
std::string cost_note(const DesignOptions& options, const Allocation& allocation);

}  // namespace doetune::doe
