// The run that came nearest to the goals, as measured.
#pragma once

#include <optional>

#include "analysis/analysis.h"

namespace doetune::analysis {

struct BestRun {
  int run = 0;
  bool meets_limits = false;
};

/// By violation of limits, then desirability, of the completed runs that have every response with
/// a goal. Empty without goals or without such a run. It is the best of noisy values: what the
/// surfaces predict is the better guide.
std::optional<BestRun> best_measured_run(const Analysis& analysis);

}  // namespace doetune::analysis
