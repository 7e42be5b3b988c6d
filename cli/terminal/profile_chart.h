// Text profile charts of a response, for `doetune fit` and `doetune optimize`.
#pragma once

#include <string>

#include "analysis/analysis.h"

namespace doetune::cli {

/// One panel per factor, three per row in 80 columns: the predicted mean along the factor with the
/// others at the optimum (analysis::reference), its 95 % confidence interval dotted, the optimum
/// marked, limits dashed. Empty for a response without a surface.
std::string profile_text(const analysis::Analysis& analysis,
                         const analysis::ResponseAnalysis& response, bool unicode);

}  // namespace doetune::cli
