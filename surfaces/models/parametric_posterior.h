// The posterior of a parametric model, whose parameters are uncertain beyond their linear errors.
#pragma once

#include <Eigen/Core>
#include <optional>
#include <vector>

#include "surfaces/models/parametric_model.h"
#include "surfaces/models/posterior.h"

namespace doetune::surfaces {

/// On the scale of the fit, z = T(model(x; theta)) + e with e ~ N(0, s^2). The prior of s is 1 / s
/// and that of the parameters |J'J|^(1/2) within their ranges, J = dz / dtheta at the runs: it is
/// uniform over the values that the model can take at the runs, however its parameters are defined.
/// For a model that is linear in its parameters this is the usual Student t. Parameters whose
/// estimates lie at an end of their range are as uncertain as others. Drawn by a Metropolis
/// algorithm. Sources: Eaves (1983), Biometrika 70, 373 (the prior); Bates & Watts (1988),
/// Nonlinear Regression Analysis, 6.1.
class ParametricPosterior final : public Posterior {
 public:
  /// `coded` are the n x k runs of `fit`. Empty without an error estimate or with an error of 0.
  static std::optional<ParametricPosterior> of(const ParametricFit& fit,
                                               const Eigen::MatrixXd& coded);

  Eigen::MatrixXd means(const Eigen::MatrixXd& coded) const override;

 private:
  ParametricPosterior() = default;

  ParametricModel model_;
  doe::Factor factor_;
  int at_ = 0;                               ///< the index of the factor
  std::optional<int> by_;                    ///< of the factor by whose levels parameters differ
  std::vector<Eigen::MatrixXd> parameters_;  ///< per level: p x draws
};

}  // namespace doetune::surfaces
