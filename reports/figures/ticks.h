// What stands at the marks of an axis.
#pragma once

#include <string>
#include <vector>

namespace doetune::reports {

/// Labels for the ticks of one axis, short and all different: "16.8M", "0.002", "1.5e-7".
std::vector<std::string> tick_labels(const std::vector<double>& values);

}  // namespace doetune::reports
