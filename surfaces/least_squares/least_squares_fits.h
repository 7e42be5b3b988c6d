// Fits of one model to several responses.
#pragma once

#include <Eigen/Core>
#include <memory>
#include <optional>
#include <vector>

#include "surfaces/fit.h"
#include "surfaces/least_squares/solution.h"

namespace doetune::surfaces {

/// What they share is worked out once: all that depends on the runs alone.
class LeastSquaresFits {
 public:
  /// Arguments as of fit_least_squares, the transform aside. Throws FitError for options that do
  /// not go with the runs.
  LeastSquaresFits(const doe::Model& model, const Eigen::MatrixXd& coded,
                   const FitOptions& options = {});

  /// What fit_least_squares gives, or throws; may be called by several threads at a time.
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
