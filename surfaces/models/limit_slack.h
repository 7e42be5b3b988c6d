// Limits on responses without noise, which runs may meet exactly.
#pragma once

#include "surfaces/goal.h"
#include "surfaces/models/gaussian_process.h"

namespace doetune::surfaces {

/// How much a limit is to be widened (Goal::slack) for what a Gaussian process cannot resolve: if a
/// run has given exactly the limit, its mean there lies on either side, by its numerical error. If
/// the errors of runs are below a thousandth of the range of the responses, three standard errors
/// of a run at the points that were run, but no more than half of the smallest violation that was
/// measured, so that no settings count as within the limit that a run has shown to miss it. Else,
/// where no run has given exactly the limit, and for goals that are no limits, 0.
double limit_slack(const Goal& goal, const GaussianProcess& process);

}  // namespace doetune::surfaces
