// Describes the effect of a categorical factor's levels in words.
#pragma once

#include <string>

#include "analysis/analysis.h"

namespace doetune::analysis {

/// The levels of a categorical factor ordered by predicted mean, with the other factors at the
/// reference settings: "highest with int8 (4240 images/s), then fp16 (2990), then fp32 (1720)".
/// Levels whose means do not differ significantly (t test of the difference, 5 %) are joined: "a
/// (4.1) or b (4.0)".
std::string level_words(const Analysis& analysis, const ResponseAnalysis& response, int factor);

}  // namespace doetune::analysis
