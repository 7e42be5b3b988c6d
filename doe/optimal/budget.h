// How many runs, and changes of the hard-to-change factors, a request asks for and can pay for.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "doe/design.h"

namespace doetune::doe {

/// Runs beyond the model's terms, where their number is left open.
inline constexpr int kSpareRuns = 5;

/// How long a search may take, where that is left open.
inline constexpr double kTimeLimit_s = 10;

/// Runs that are part of the design whatever is found: at the centre, in turn at every combination
/// of categorical levels, and in every block.
std::vector<DesignPoint> center_points(const DesignRequest& request);

/// So many runs in so many whole plots, of one replicate.
struct Allocation {
  int runs = 0;
  int whole_plots = 0;  ///< 0: none, every run on its own
};

/// What the model takes.
struct Needs {
  int coefficients = 1;  ///< as many runs at least, earlier ones included
  int earlier_runs = 0;
  int usual_runs = 1;   ///< where the request leaves their number open
  int whole_plots = 0;  ///< as many at least; 0: the runs are in none

  int runs() const { return std::max(coefficients - earlier_runs, 1); }
};

/// Whether the runs are to be in whole plots: where a factor is hard to change; but runs that are
/// added to earlier ones only where whole_plots says how.
bool in_whole_plots(const DesignRequest& request);

/// The request of one replicate: with its share of the runs and whole plots. Throws DesignError
/// where they are no multiple of the replicates.
DesignRequest one_replicate(const DesignRequest& request);

/// The columns of the model that the hard-to-change factors alone determine, the intercept among
/// them: as many whole plots are the fewest with which the model can be estimated.
int fewest_whole_plots(const Model& model);

/// Throws DesignError for options of costs and whole plots that do not go together.
void check_costs(const DesignRequest& request);

/// The allocations to choose from, ascending in whole plots. Each has the runs that are asked for,
/// or all that the budget pays for, or else the usual ones:
///
///   replicates (runs run_cost + whole_plots change_cost) <= budget.
///
/// There are several only where whole plots are limited by their cost alone; without cost or number
/// there are two beyond the fewest. Throws DesignError where none will do, saying what would.
std::vector<Allocation> allocations(const DesignOptions& options, const Needs& needs);

/// What all replicates of a design cost, in words; empty where run_cost is not given.
std::string cost_note(const DesignOptions& options, const Allocation& allocation);

}  // namespace doetune::doe
