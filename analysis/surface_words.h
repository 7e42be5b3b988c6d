// The shape of a fitted surface in words: what the canonical analysis says.
#pragma once

#include <string>

#include "analysis/analysis.h"

namespace doetune::analysis {

/// "Highest at a = 2.1, b = 7 inside the region: 2610 images/s there (maximum: 97 % sure). It
/// curves most along a, and is nearly flat along b." Says why where there is no such shape.
std::string shape_words(const Analysis& analysis, const ResponseAnalysis& response);

}  // namespace doetune::analysis
