// How many runs, and changes of the hard-to-change factors, a budget pays for.
#pragma once

#include <string>
#include <vector>

#include "doe/design.h"

namespace doetune::doe {

/// So many runs in so many whole plots. A whole plot costs one change, also the first.
struct Allocation {
  int whole_plots = 0;  ///< 0: none, every run on its own
  int runs = 0;
};

bool has_hard_factors(const DesignRequest& request);

/// Whether the runs are to be in whole plots: whole_plots is given, or change_cost with a budget.
bool wants_whole_plots(const DesignOptions& options);

/// Throws DesignError for options of costs and whole plots that do not go together.
void check_costs(const DesignRequest& request);

/// How many runs of each replicate the budget pays for beside so many changes:
///
///   runs <= (budget / replicates - whole_plots change_cost) / run_cost.
int affordable_runs(const DesignOptions& options, int whole_plots);

/// The columns of the model that the hard-to-change factors alone determine, the intercept among
/// them: as many whole plots are the least with which the model can be estimated.
int least_whole_plots(const Model& model);

/// Some choices of whole plots, from the least, each with all the runs that the budget pays for
/// then: every choice where they are few, or else evenly spread ones. `whole_plots` of the options
/// leaves that one alone. Throws DesignError where the budget is too small for any.
std::vector<Allocation> allocations(const DesignOptions& options, int least_whole_plots,
                                    int least_runs);

/// The note on what all replicates of a design cost; empty where run_cost is not given.
std::string cost_note(const DesignOptions& options, const Allocation& allocation);

}  // namespace doetune::doe
