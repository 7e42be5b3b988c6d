// Joint evaluation of several surfaces at the same points.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "surfaces/surface.h"

namespace doetune::surfaces {

/// Fits with the same terms share the model matrix of the points, which costs more than its product
/// with their coefficients.
class ResponsesTogether {
 public:
  /// The surfaces must outlive it; a null pointer predicts nothing.
  explicit ResponsesTogether(std::vector<const Surface*> surfaces);

  /// responses(coded) of each surface, empty for a null pointer; thread-safe.
  std::vector<Eigen::VectorXd> at(const Eigen::MatrixXd& coded) const;

 private:
  std::vector<const Surface*> surfaces_;
  std::vector<std::vector<std::size_t>> fits_;  ///< indices of fits grouped by equal terms
  std::vector<std::size_t> others_;
};

}  // namespace doetune::surfaces
