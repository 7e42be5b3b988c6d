// What a fit says about settings that were chosen by it, whatever the kind of surface.
#pragma once

#include <Eigen/Core>
#include <optional>

#include "surfaces/surface.h"
#include "surfaces/variance_model.h"

namespace doetune::surfaces {

/// Settings that are chosen because they look best look better than they are: the errors of the
/// surface are among what they were chosen by. An interval about the fitted value then contains the
/// truth too rarely; that of a posterior does not depend on how the settings were chosen. Source:
/// Dawid (1994), Multivariate Analysis and its Applications, IMS Lecture Notes 24, 211.
class Posterior {
 public:
  virtual ~Posterior() = default;

  /// kDraws draws of the means at m coded points, kDraws x m, on the scale of the fit: the same at
  /// every call with the same points.
  virtual Eigen::MatrixXd means(const Eigen::MatrixXd& coded) const = 0;

  /// The posterior at a point in the form of a prediction: with its mean and standard errors, the
  /// intervals of level 0.95 for the mean and for the next run are those of the draws.
  Prediction predict(const Eigen::VectorXd& coded) const;

  static constexpr int kDraws = 4'000;

 protected:
  friend class MixedPosterior;

  Transform transform_ = Transform::kNone;
  double df_ = 0;                          ///< of the predictions, at least 1
  std::optional<VarianceModel> variance_;  ///< relative, of a run at each point
  Eigen::VectorXd deviations_;             ///< draws of the standard deviation of a run
  Eigen::VectorXd next_errors_;            ///< standard normal draws
};

}  // namespace doetune::surfaces
