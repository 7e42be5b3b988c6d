// A prediction beside its goal, as a drawing that fits a table cell.
#pragma once

#include <string>

#include "surfaces/optimum.h"

namespace doetune::reports {

/// On one line from left to right: the range that meets the goal (shaded), the 95 % interval of the
/// next run (thin), that of the mean (thick), the mean (dot) and today's prediction (hollow square,
/// `now` may be null).
std::string range_bar(const surfaces::Outlook& outlook, const surfaces::Goal* goal,
                      const surfaces::Outlook* now);

}  // namespace doetune::reports
