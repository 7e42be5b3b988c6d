// The posterior of a Gaussian process, whose parameters are uncertain too.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "surfaces/models/gaussian_process.h"
#include "surfaces/models/posterior.h"

namespace doetune::surfaces {

/// Averages over the parameters of the correlation and of the noise, which predictions of the fit
/// itself take as known: each part of the draws is that of a process with other parameters. Source:
/// Handcock & Stein (1993), Technometrics 35, 403.
class GaussianProcessPosterior final : public Posterior {
 public:
  explicit GaussianProcessPosterior(const GaussianProcess& fit, int threads = 0);

  Eigen::MatrixXd means(const Eigen::MatrixXd& coded) const override;

  /// The logarithm of the marginal likelihood of the responses on the scale of the fit: over the
  /// parameters' priors of fit_gaussian_process, a flat prior of the mean's coefficients, and that
  /// of the variance, its reciprocal.
  double log_marginal_likelihood() const { return log_marginal_likelihood_; }

 private:
  static constexpr int kProcesses = 64;

  double log_marginal_likelihood_ = 0;  // set with processes_, and so before them
  std::vector<GaussianProcess> processes_;
  Eigen::VectorXd scales_;  ///< draws of the deviation of a process over its estimate
};

}  // namespace doetune::surfaces
