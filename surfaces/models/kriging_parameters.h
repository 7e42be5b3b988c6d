// The parameters of a Gaussian process that its runs make likely; for gaussian_process.cpp only.
#pragma once

#include <Eigen/Core>

#include "surfaces/models/kriging.h"

namespace doetune::surfaces {

/// The parameters of solve_kriging that maximise restricted likelihood times prior, both as
/// fit_gaussian_process states them. Throws FitError where no start can be evaluated.
Eigen::VectorXd estimated_parameters(const GroupedRuns& runs, int threads);

}  // namespace doetune::surfaces
