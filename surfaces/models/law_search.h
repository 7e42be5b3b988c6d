// The parameters of a law by nonlinear least squares; for law.cpp only.
#pragma once

#include <Eigen/Core>

#include "surfaces/models/law.h"

namespace doetune::surfaces {

/// What z = T(y) = T(law(x; theta)) + e is fitted to.
struct LawRuns {
  const Law& law;
  Transform transform;
  Eigen::VectorXd x;  ///< n settings in natural units
  Eigen::VectorXd z;  ///< n responses on the scale of the fit
};

/// T(law(x; theta)), and where asked its gradient by the parameters; not a number where T has no
/// value for the law.
double law_on_scale(const Law& law, const Transform& transform, double x,
                    const Eigen::VectorXd& parameters, Eigen::VectorXd* gradient);

/// The same at every x, without gradients.
Eigen::VectorXd law_values(const LawRuns& runs, const Eigen::VectorXd& parameters);

/// The least squares parameters within their ranges that Levenberg-Marquardt reaches from a start.
Eigen::VectorXd improved_parameters(const LawRuns& runs, Eigen::VectorXd start);

/// The best that improved_parameters reaches from every combination of starts; empty where T has no
/// value for the law at any of them.
Eigen::VectorXd best_parameters(const LawRuns& runs);

}  // namespace doetune::surfaces
