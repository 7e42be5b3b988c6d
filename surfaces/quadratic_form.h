// A quadratic of k variables.
#pragma once

#include <Eigen/Core>

namespace doetune::surfaces {

/// q(c) = constant + linear' c + c' second c, with `second` symmetric.
struct QuadraticForm {
  double constant = 0;
  Eigen::VectorXd linear;  ///< k
  Eigen::MatrixXd second;  ///< k x k

  double value(const Eigen::Ref<const Eigen::VectorXd>& c) const {
    return constant + c.dot(linear + second * c);
  }
};

}  // namespace doetune::surfaces
