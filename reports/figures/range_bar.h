// A prediction beside its goal, as a drawing that fits a table cell.
#pragma once

#include <optional>
#include <string>

#include "surfaces/optimum.h"

namespace doetune::reports {

/// On one line from left to right: the range that meets the goal (shaded), the 95 % interval of the
/// next run (thin), that of the mean (thick), the mean (dot), the mean of the confirmation runs
/// (diamond) and today's response (hollow square).
std::string range_bar(const surfaces::ResponsePrediction& predicted, const surfaces::Goal* goal,
                      const std::optional<double>& now, const std::optional<double>& confirmed);

}  // namespace doetune::reports
