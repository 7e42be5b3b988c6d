// The answer in one or two sentences.
#pragma once

#include <string>
#include <vector>

#include "analysis/analysis.h"

namespace doetune::analysis {

/// What the surfaces say, before any confirmation.
std::string predicted_headline(const Analysis& analysis);

/// "the low end of throughput (9000 images/s)": the end that every ramp at 0 falls short of. Of an
/// analysis with an optimum.
std::vector<std::string> ends_out_of_reach(const Analysis& analysis);

}  // namespace doetune::analysis
