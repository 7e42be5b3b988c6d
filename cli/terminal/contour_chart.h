// Text contour plot of a response over two factors: `doetune optimize --contour A,B`.
#pragma once

#include <string>

#include "analysis/analysis.h"

namespace doetune::cli {

/// 80 columns: labelled contour lines of the predicted mean over the numeric factors with indices
/// `x` and `y`, the others at the optimum (analysis::reference); the runs, the optimum, and shading
/// where a limit of any response is violated. The response must have a surface.
std::string contour_text(const analysis::Analysis& analysis,
                         const analysis::ResponseAnalysis& response, int x, int y, bool unicode);

}  // namespace doetune::cli
