// The result of an analysis in one or two sentences.
#pragma once

#include <string>
#include <vector>

#include "analysis/analysis.h"

namespace doetune::analysis {

/// What the surfaces predict, before any confirmation.
std::string predicted_headline(const Analysis& analysis);

/// "the low end of throughput (9000 images/s)": for each ramp goal with predicted desirability 0,
/// the end of the ramp that is not reached. Requires an optimum.
std::vector<std::string> ends_out_of_reach(const Analysis& analysis);

}  // namespace doetune::analysis
