// The contours of a response over two factors, as text: `doetune optimize --contour A,B`.
#pragma once

#include <string>

#include "analysis/analysis.h"

namespace doetune::cli {

/// 80 columns: labelled lines of equal predicted mean over factors `x` and `y` (numeric, by index)
/// with the others at the optimum (analysis::reference), the runs, the optimum, and shaded where a
/// limit of any response is missed. The response must have a surface.
std::string contour_text(const analysis::Analysis& analysis,
                         const analysis::ResponseAnalysis& response, int x, int y, bool unicode);

}  // namespace doetune::cli
