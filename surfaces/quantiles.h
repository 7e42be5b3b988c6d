// Quantiles of draws.
#pragma once

#include <vector>

#include "surfaces/surface.h"

namespace doetune::surfaces {

/// The value of which a fraction of the draws is at or below, by the nearest rank. At least one
/// draw.
double quantile(std::vector<double> draws, double fraction);

/// From the quantile at (1 - level) / 2 to that at (1 + level) / 2.
Interval central_interval(std::vector<double> draws, double level);

}  // namespace doetune::surfaces
