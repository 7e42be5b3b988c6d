// Formats tick labels of an axis.
#pragma once

#include <string>
#include <vector>

namespace doetune::reports {

/// Short and distinct labels for the ticks of an axis: "16.8M", "0.002", "1.5e-7".
std::vector<std::string> tick_labels(const std::vector<double>& values);

}  // namespace doetune::reports
