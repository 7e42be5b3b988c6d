// The completed run whose measured responses meet the goals best.
#pragma once

#include <optional>

#include "analysis/analysis.h"

namespace doetune::analysis {

struct BestRun {
  int run = 0;
  bool meets_limits = false;
};

/// The best completed run by violation of limits, then desirability, among those that measured
/// every response with a goal. Empty without goals or such a run. As the best of noisy values it is
/// biased: the predictions of the surfaces are the better guide.
std::optional<BestRun> best_measured_run(const Analysis& analysis);

}  // namespace doetune::analysis
