// What a fit says about settings that were chosen by it: the posterior of shrunken coefficients.
#pragma once

#include <Eigen/Core>
#include <optional>

#include "doe/model.h"
#include "surfaces/fit.h"

namespace doetune::surfaces {

/// Settings that are chosen because they look best look better than they are: the errors of the
/// coefficients are among what they were chosen by. An interval about the fitted value then
/// contains the truth too rarely; that of a posterior does not depend on how the settings were
/// chosen.
///
/// On the scale of the fit, z = D g + X b + e with e ~ N(0, s^2 / w): D are the constant and the
/// blocks, with flat priors, and X the other p columns of the model. The coefficients share one
/// variance, b ~ N(0, s^2 v I), and 1/s^2 is flat. With X centred by D and weighted, and S its
/// singular values, the prior of the shrinkage f = 1 / (1 + v mean(S^2)) is f^(-1/2) on (0, 1):
/// from no effect at all to no shrinkage, neither excluded nor favoured. Where the runs show large
/// effects, this is the usual Student t; where they show none, all of the surface is shrunk to its
/// mean. Sources: Strawderman (1971), Annals of Mathematical Statistics 42, 385 (the prior); Dawid
/// (1994), Multivariate Analysis and its Applications, IMS Lecture Notes 24, 211 (selection).
class ShrunkenPosterior {
 public:
  /// The posterior given the runs of `fit`. `model` is what the coefficients were chosen from: the
  /// fit's own model or, after a selection of terms, the largest that was considered; the runs need
  /// not determine it. Empty for runs in whole plots, robust losses and models without the term 1,
  /// and for a fit that has no error estimate or an error of 0.
  static std::optional<ShrunkenPosterior> of(const Fit& fit, const doe::Model& model);

  /// kDraws draws of the means at m coded points on the scale of the fit, one per row: the same
  /// draws of the coefficients at every call.
  Eigen::MatrixXd means(const Eigen::MatrixXd& coded) const;

  /// The posterior at a point in the form of a prediction: with its mean and standard errors, the
  /// intervals of level 0.95 for the mean and for the next run are those of the draws.
  Prediction predict(const Eigen::VectorXd& coded) const;

  static constexpr int kDraws = 4'000;

 private:
  doe::Model model_;
  Transform transform_ = Transform::kNone;
  double df_ = 0;
  std::optional<VarianceModel> variance_;
  Eigen::RowVectorXd centre_;     ///< p: what D takes of a row of X
  Eigen::VectorXd constants_;     ///< draws of the mean of z at `centre_`, average block
  Eigen::MatrixXd coefficients_;  ///< p x draws
  Eigen::VectorXd deviations_;    ///< draws of s
  Eigen::VectorXd next_errors_;   ///< standard normal draws
};

}  // namespace doetune::surfaces
