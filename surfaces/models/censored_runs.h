// Censored runs: runs of which only a range is known that contains each response.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "surfaces/models/gaussian_process.h"

namespace doetune::surfaces {

/// m runs of k factors.
struct CensoredRuns {
  Eigen::MatrixXd coded;         ///< m x k
  std::vector<Interval> ranges;  ///< m, in the response's own unit; ends may be infinite
};

/// E[z | low <= z <= high] of z ~ N(mean, deviation^2): with a and b the standardised ends, mean +
/// deviation (phi(a) - phi(b)) / (Phi(b) - Phi(a)). Where the range has no probability in double
/// precision, its end next to the mean. deviation > 0, low <= high; ends may be infinite.
double truncated_normal_mean(double mean, double deviation, double low, double high);

/// The responses of censored runs, in their own unit: what a run at their settings is expected to
/// measure by the process, given that it is in its range.
Eigen::VectorXd imputed(const GaussianProcess& process, const CensoredRuns& censored);

/// fit_gaussian_process to the runs, then again with the censored ones at their imputed()
/// responses: one step of the iteration of Schmee & Hahn (1979), Technometrics 21, 417. Its rows
/// are the runs, then the censored runs. Source, for searches: Hutter, Hoos & Leyton-Brown (2013),
/// Bayesian optimization with censored response data, arXiv 1310.1947. Throws FitError like
/// fit_gaussian_process.
GaussianProcess fit_gaussian_process(const doe::Model& model, const Eigen::MatrixXd& coded,
                                     const Eigen::VectorXd& y, const CensoredRuns& censored,
                                     const GaussianProcessOptions& options = {});

}  // namespace doetune::surfaces
