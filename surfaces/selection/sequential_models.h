// Sequential model comparisons of several responses of the same runs.
#pragma once

#include <Eigen/Core>
#include <optional>
#include <vector>

#include "surfaces/least_squares/least_squares_fits.h"
#include "surfaces/selection/sequential.h"

namespace doetune::surfaces {

/// Computes once everything that depends on the runs alone.
class SequentialModels {
 public:
  /// Arguments as for sequential_summary, except the transform.
  SequentialModels(const std::vector<doe::Factor>& factors, const Eigen::MatrixXd& coded,
                   const FitOptions& options = {});

  /// Returns or throws what sequential_summary does; thread-safe.
  SequentialSummary summary(const Eigen::VectorXd& y, Transform transform) const;

 private:
  struct Member {
    SequentialStep step;                   ///< the part that depends on the runs alone
    std::optional<LeastSquaresFits> fits;  ///< empty if the step adds nothing
  };
  std::vector<Member> members_;
};

}  // namespace doetune::surfaces
