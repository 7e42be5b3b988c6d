// Limits that hold, at the settings that are chosen, with the confidence that they ask for.
#pragma once

#include "surfaces/optimum.h"

namespace doetune::surfaces {

/// Sets the margin of every response with a limit, so that find_optimum finds the best settings at
/// which the posteriors meet the limits, though it searches with the surfaces' own errors, which
/// cost little. At settings x that were found, the difference of both is
///   margin = spare_margin by the surface - spare_margin by the posterior.
/// With these margins the search finds others, and so on, until it finds settings that it has found
/// before; the margins that led to the best are kept. If no settings meet the limits, these come
/// nearest. Responses without a posterior keep the margin 0. Throws like find_optimum.
void calibrate_limits(OptimumRequest& request);

}  // namespace doetune::surfaces
