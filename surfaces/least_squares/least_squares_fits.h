// Fits of one model to several responses of the same runs.
#pragma once

#include <Eigen/Core>
#include <memory>
#include <optional>
#include <vector>

#include "surfaces/fit.h"
#include "surfaces/least_squares/solution.h"

namespace doetune::surfaces {

/// Computes once everything that depends on the runs alone.
class LeastSquaresFits {
 public:
  /// Arguments as for fit_least_squares, except the transform. Throws FitError for options that do
  /// not match the runs.
  LeastSquaresFits(const doe::Model& model, const Eigen::MatrixXd& coded,
                   const FitOptions& options = {});

  /// Returns or throws what fit_least_squares does; thread-safe.
  Fit fit(const Eigen::VectorXd& y, Transform transform) const;

 private:
  doe::Model model_;
  Eigen::MatrixXd coded_;
  FitOptions options_;
  Eigen::VectorXd weights_;
  std::shared_ptr<const LeastSquaresSolver> solver_;  ///< null: the runs do not determine the model
  std::vector<std::optional<double>> inflation_;
};

}  // namespace doetune::surfaces
