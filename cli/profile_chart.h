// A response along each factor, as text: what `doetune fit` and `doetune optimize` show.
#pragma once

#include <string>

#include "analysis/analysis.h"

namespace doetune::cli {

/// A panel a factor, three beside each other in 80 columns: the predicted mean along the factor
/// with the others at the optimum (analysis::reference), its 95 % interval dotted, the optimum's
/// setting marked, limits dashed. Empty for a response without a surface.
std::string profile_text(const analysis::Analysis& analysis,
                         const analysis::ResponseAnalysis& response, bool unicode);

}  // namespace doetune::cli
