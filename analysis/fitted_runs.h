// How far a study has come: its runs, their fits, and whether it says what is wanted.
#pragma once

#include "analysis/analysis.h"

namespace doetune::analysis {

/// The runs that surfaces are fitted to, by what became of them.
struct FittedRuns {
  int planned = 0;
  int missing = 0;
  int incomplete = 0;  ///< tried, but not completed

  explicit FittedRuns(const Analysis& analysis);
};

bool any_fit(const Analysis& analysis);
bool has_goal(const Analysis& analysis);

}  // namespace doetune::analysis
