// The parameters of a law by nonlinear least squares; for law.cpp only.
#pragma once

#include <Eigen/Core>

#include "surfaces/models/law.h"

namespace doetune::surfaces {

/// The least squares parameters within their ranges that Levenberg-Marquardt reaches from a start.
Eigen::VectorXd improved_parameters(const Law& law, const Eigen::VectorXd& x,
                                    const Eigen::VectorXd& y, Eigen::VectorXd start);

/// The best that improved_parameters reaches from every combination of starts.
Eigen::VectorXd best_parameters(const Law& law, const Eigen::VectorXd& x, const Eigen::VectorXd& y);

/// The law at every x.
Eigen::VectorXd law_values(const Law& law, const Eigen::VectorXd& x,
                           const Eigen::VectorXd& parameters);

}  // namespace doetune::surfaces
