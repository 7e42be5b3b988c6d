// Whether better settings may lie outside the ranges of the factors.
#pragma once

#include <string>
#include <vector>

#include "surfaces/optimum.h"

namespace doetune::surfaces {

/// The factors of `optimum.at_bound` that have an effect there: beyond the end of their range a
/// ramp, or a limit that the mean prediction misses, changes towards its goal. The change over the
/// last hundredth of the range, in which the surface is straight, is significant by its interval
/// (`gains`, request.confidence); without an error estimate any change counts.
std::vector<std::string> improving_ends(const OptimumRequest& request, const Optimum& optimum);

}  // namespace doetune::surfaces
