// The sequences of models of several responses.
#pragma once

#include <Eigen/Core>
#include <optional>
#include <vector>

#include "surfaces/least_squares/least_squares_fits.h"
#include "surfaces/selection/sequential.h"

namespace doetune::surfaces {

/// What they share is worked out once: all that depends on the runs alone.
class SequentialModels {
 public:
  /// Arguments as of sequential_summary, the transform aside.
  SequentialModels(const std::vector<doe::Factor>& factors, const Eigen::MatrixXd& coded,
                   const FitOptions& options = {});

  /// What sequential_summary gives, or throws; may be called by several threads at a time.
  SequentialSummary summary(const Eigen::VectorXd& y, Transform transform) const;

 private:
  struct Member {
    SequentialStep step;                   ///< as far as runs tell
    std::optional<LeastSquaresFits> fits;  ///< empty where the step adds nothing
  };
  std::vector<Member> members_;
};

}  // namespace doetune::surfaces
