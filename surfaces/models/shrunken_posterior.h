// The posterior of a polynomial whose coefficients are shrunken together.
#pragma once

#include <Eigen/Core>
#include <optional>
#include <vector>

#include "doe/model.h"
#include "surfaces/fit.h"
#include "surfaces/models/posterior.h"

namespace doetune::surfaces {

/// On the scale of the fit, z = D g + X b + e with e ~ N(0, s^2 H): D are the constant and the
/// blocks, with flat priors, and X the other p columns of the model. The coefficients share one
/// variance, b ~ N(0, s^2 v I), and 1/s^2 is flat. With X whitened by H^-1/2 and centred by D, and
/// S its singular values, the prior of the shrinkage f = 1 / (1 + v mean(S^2)) is f^(-1/2) on (0,
/// 1): from no effect at all to no shrinkage, neither excluded nor favoured. Where the runs show
/// large effects, this is the usual Student t; where they show none, all of the surface is shrunk
/// to its mean.
///
/// H is diag(1 / w) for runs of weight w, and I + d ZZ' for runs in whole plots (see
/// surfaces/split_plot.h), whose 1 + m d, m the mean number of runs of a whole plot, has the prior
/// of a scale, 1 / (1 + m d). After a robust fit, z are the pseudo-values X b + c psi(r), to which
/// ordinary least squares fit the same coefficients with the same standard errors.
///
/// Sources: Strawderman (1971), Annals of Mathematical Statistics 42, 385 (the prior of f); Tiao &
/// Tan (1965), Biometrika 52, 37 (that of d); Huber (1981), Robust Statistics, 7.10
/// (pseudo-values).
class ShrunkenPosterior final : public Posterior {
 public:
  /// The posterior given the runs of `fit`. `model` is what the coefficients were chosen from: the
  /// fit's own model or, after a selection of terms, the largest that was considered; the runs need
  /// not determine it. `whole_plots` are the n numbers that the fit was given, if any. Empty for
  /// models without the term 1, and for a fit that has no error estimate or an error of 0.
  static std::optional<ShrunkenPosterior> of(const Fit& fit, const doe::Model& model,
                                             const std::vector<int>& whole_plots = {});

  Eigen::MatrixXd means(const Eigen::MatrixXd& coded) const override;

  /// The logarithm of the marginal likelihood of z, over the priors above. Empty with whole plots.
  std::optional<double> log_marginal_likelihood() const { return log_marginal_likelihood_; }

 private:
  doe::Model model_;
  std::optional<double> log_marginal_likelihood_;
  Eigen::VectorXd constants_;     ///< draws of the mean of z where X is 0, average block
  Eigen::MatrixXd coefficients_;  ///< p x draws
};

}  // namespace doetune::surfaces
