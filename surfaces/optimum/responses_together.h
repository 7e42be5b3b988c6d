// What several surfaces predict at the same points.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "surfaces/surface.h"

namespace doetune::surfaces {

/// Fits of the same terms share the model matrix of the points, which costs more than its product
/// with their coefficients.
class ResponsesTogether {
 public:
  /// The surfaces must outlive it; a null pointer predicts nothing.
  explicit ResponsesTogether(std::vector<const Surface*> surfaces);

  /// Of each surface what its responses(coded) are, none of a null pointer; may be called by
  /// several threads at a time.
  std::vector<Eigen::VectorXd> at(const Eigen::MatrixXd& coded) const;

 private:
  std::vector<const Surface*> surfaces_;
  std::vector<std::vector<std::size_t>> fits_;  ///< those of the same terms, by place
  std::vector<std::size_t> others_;
};

}  // namespace doetune::surfaces
