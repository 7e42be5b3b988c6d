// Nonlinear least squares for parametric models; internal to parametric_model.cpp.
#pragma once

#include <Eigen/Core>

#include "surfaces/models/parametric_model.h"

namespace doetune::surfaces {

/// The data of the fit z = T(y) = T(model(x; theta)) + e.
struct ParametricRuns {
  const ParametricModel& model;
  Transform transform;
  Eigen::VectorXd x;  ///< n settings in natural units
  Eigen::VectorXd z;  ///< n responses on the scale of the fit
};

/// T(model(x; theta)), and its gradient by the parameters if requested; NaN if the model is outside
/// the domain of T.
double model_on_scale(const ParametricModel& parametric, const Transform& transform, double x,
                      const Eigen::VectorXd& parameters, Eigen::VectorXd* gradient);

/// The same at every x, without gradients.
Eigen::VectorXd model_values(const ParametricRuns& runs, const Eigen::VectorXd& parameters);

/// The parameters that Levenberg-Marquardt reaches from a start within the parameter ranges.
Eigen::VectorXd improved_parameters(const ParametricRuns& runs, Eigen::VectorXd start);

/// The best result of improved_parameters over all combinations of starts; empty if the model is
/// outside the domain of T at all of them.
Eigen::VectorXd best_parameters(const ParametricRuns& runs);

}  // namespace doetune::surfaces
