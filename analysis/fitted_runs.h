// Progress of a study: completed and missing runs, fits and goals.
#pragma once

#include "analysis/analysis.h"

namespace doetune::analysis {

/// Counts of the runs used in fits, by outcome.
struct FittedRuns {
  int planned = 0;
  int missing = 0;
  int incomplete = 0;   ///< attempted, but not completed
  int ended_early = 0;  ///< not among the incomplete ones

  explicit FittedRuns(const Analysis& analysis);
};

bool any_fit(const Analysis& analysis);
bool has_goal(const Analysis& analysis);

}  // namespace doetune::analysis
