// Estimation of the parameters of a Gaussian process; internal to gaussian_process.cpp.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "surfaces/models/kriging.h"

namespace doetune::surfaces {

/// The parameters of solve_kriging that maximise restricted likelihood times prior, both as defined
/// at fit_gaussian_process. Throws FitError if no start can be evaluated.
Eigen::VectorXd estimated_parameters(const GroupedRuns& runs, bool with_nugget, int threads);

struct DrawnParameters {
  std::vector<Eigen::VectorXd> drawn;
  double log_likelihood = 0;  ///< the logarithm of the likelihood's mean over the prior
};

/// `count` draws of the parameters from their posterior, of which `mode` is the maximum: proposals
/// from Student's t about it and from the prior, eight times as many, drawn again in proportion to
/// posterior over proposal. The mean of this ratio is the likelihood's mean over the prior. Source:
/// Gelfand & Smith (1990), JASA 85, 398 (sampling, importance resampling).
DrawnParameters drawn_parameters(const GroupedRuns& runs, const Eigen::VectorXd& mode, int count,
                                 int threads);

}  // namespace doetune::surfaces
