// Describes the shape of a fitted surface, from its canonical analysis.
#pragma once

#include <string>

#include "analysis/analysis.h"

namespace doetune::analysis {

/// "not determined, as no factor is shown to have an effect (p = 0.4)", if that is so; else empty.
std::string why_no_shape(const ResponseAnalysis& response);

/// "Highest at a = 2.1, b = 7 inside the region: 2610 images/s there (maximum: 97 % sure). It
/// curves most along a, and is nearly flat along b." States the reason if no shape can be given.
std::string shape_words(const Analysis& analysis, const ResponseAnalysis& response);

}  // namespace doetune::analysis
