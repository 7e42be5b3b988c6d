// The parameters of a parametric model by nonlinear least squares; for parametric_model.cpp only.
#pragma once

#include <Eigen/Core>

#include "surfaces/models/parametric_model.h"

namespace doetune::surfaces {

/// What z = T(y) = T(model(x; theta)) + e is fitted to.
struct ParametricRuns {
  const ParametricModel& model;
  Transform transform;
  Eigen::VectorXd x;  ///< n settings in natural units
  Eigen::VectorXd z;  ///< n responses on the scale of the fit
};

/// T(model(x; theta)), and where asked its gradient by the parameters; not a number where T has no
/// value for the model.
double model_on_scale(const ParametricModel& parametric, const Transform& transform, double x,
                      const Eigen::VectorXd& parameters, Eigen::VectorXd* gradient);

/// The same at every x, without gradients.
Eigen::VectorXd model_values(const ParametricRuns& runs, const Eigen::VectorXd& parameters);

/// The least squares parameters within their ranges that Levenberg-Marquardt reaches from a start.
Eigen::VectorXd improved_parameters(const ParametricRuns& runs, Eigen::VectorXd start);

/// The best that improved_parameters reaches from every combination of starts; empty where T has no
/// value for the model at any of them.
Eigen::VectorXd best_parameters(const ParametricRuns& runs);

}  // namespace doetune::surfaces
