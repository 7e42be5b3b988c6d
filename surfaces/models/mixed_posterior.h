// The posterior where runs do not tell which of two kinds of surface is true.
#pragma once

#include <Eigen/Core>
#include <memory>
#include <vector>

#include "doe/model.h"
#include "surfaces/models/gaussian_process.h"
#include "surfaces/models/posterior.h"

namespace doetune::surfaces {

/// Draws of two posteriors of the same responses, as many of each as its probability says.
class MixedPosterior final : public Posterior {
 public:
  /// `probability` is that of `first`, from 0 to 1. The degrees of freedom and the transform are
  /// those of `first`; neither may have a variance model.
  MixedPosterior(std::shared_ptr<const Posterior> first, std::shared_ptr<const Posterior> second,
                 double probability);

  Eigen::MatrixXd means(const Eigen::MatrixXd& coded) const override;

 private:
  std::shared_ptr<const Posterior> first_, second_;
  std::vector<bool> of_first_;      ///< by draw
  std::vector<Eigen::Index> rows_;  ///< by draw: among those of its part
};

/// The posterior where a polynomial is as likely to be true, before the runs, as the Gaussian
/// process that was chosen to predict. With z the responses on the scale of the fit, the process
/// has the probability
///
///   p(process | z) = p(z | process) / (p(z | process) + p(z | polynomial))
///
/// and the rest is that of the polynomial with all its terms, ShrunkenPosterior. The marginal
/// likelihoods p(z | .) integrate over every parameter. Both kinds have a constant with a flat
/// prior and a variance s^2 with the prior 1/s^2, so that what these leave open cancels; the other
/// priors are proper.
///
/// A process alone is too sure of itself: twelve runs of four factors show little of large
/// interactions, which it then takes not to be there (simulated in bench/coverage). Where only the
/// process has a posterior, it is that of the process.
///
/// `process` has a constant mean. Sources: Hoeting, Madigan, Raftery & Volinsky (1999), Statistical
/// Science 14, 382 (averaging over models); Berger, Pericchi & Varshavsky (1998), Sankhya A 60, 307
/// (improper priors of what models have in common).
std::shared_ptr<const Posterior> posterior_with_polynomial(const GaussianProcess& process,
                                                           const doe::Model& polynomial,
                                                           int threads = 0);

}  // namespace doetune::surfaces
