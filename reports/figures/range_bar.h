// A prediction drawn on the scale of its goal, for a table cell.
#pragma once

#include <optional>
#include <string>

#include "surfaces/optimum.h"

namespace doetune::reports {

/// On one line: the range that meets the goal (shaded), the 95 % prediction interval of the next
/// run (thin), the 95 % confidence interval of the mean (thick), the mean (dot), the mean of the
/// confirmation runs (diamond) and the response at the baseline (hollow square).
std::string range_bar(const surfaces::ResponsePrediction& predicted, const surfaces::Goal* goal,
                      const std::optional<double>& now, const std::optional<double>& confirmed);

}  // namespace doetune::reports
