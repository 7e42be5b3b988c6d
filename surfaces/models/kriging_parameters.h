// Estimation of the parameters of a Gaussian process; internal to gaussian_process.cpp.
#pragma once

#include <Eigen/Core>

#include "surfaces/models/kriging.h"

namespace doetune::surfaces {

/// The parameters of solve_kriging that maximise restricted likelihood times prior, both as defined
/// at fit_gaussian_process. Throws FitError if no start can be evaluated.
Eigen::VectorXd estimated_parameters(const GroupedRuns& runs, int threads);

}  // namespace doetune::surfaces
