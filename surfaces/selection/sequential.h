// How far up the orders of a polynomial the runs support going.
#pragma once

#include <Eigen/Core>
#include <optional>
#include <string>
#include <vector>

#include "surfaces/fit.h"

namespace doetune::surfaces {

/// One model of the sequence, with what it adds to the one before it. What a fit of it does not
/// have is empty, as in Fit.
struct SequentialStep {
  std::string model;               ///< "mean", "linear", "interactions", "quadratic" or "cubic"
  std::vector<std::string> added;  ///< terms that it adds and the runs determine
  /// Terms that it would add and the runs do not determine, being aliased with blocks, terms before
  /// them or each other; everything below is of the model without them.
  std::vector<std::string> aliased;
  std::string problem;  ///< why there is no fit; empty where there is one
  int df = 0;           ///< columns added
  /// Of the added terms against the error of this model: f = (SS / df) / s^2; with whole plots
  /// without a sum of squares and by Kenward & Roger's test, with df_error of its own.
  std::optional<double> sum_of_squares, df_error, f, p;
  std::optional<double> lack_of_fit_p;
  std::optional<double> sigma, r2, adjusted_r2, predicted_r2, press, aicc;
};

struct SequentialSummary {
  std::vector<SequentialStep> steps;  ///< those that add a term to the one before; "mean" always
  std::string suggested;              ///< the model of one of the steps
  std::string reason;                 ///< why, in a sentence
};

/// Fits the named models in turn, each of which contains the one before it.
///
/// Suggested is the highest model for which
///   1. nothing is aliased, and the terms that it adds are significant (p < 0.05; "mean": always)
///   2. its lack of fit is not significant (p >= 0.05, or there is no test); where that holds for
///      none, this condition is dropped, and the reason says so
///   3. its predicted R2 is not below that of a lower model that meets 1 and 2 (none counts as
///      below any, so that runs with leverage 1 do not recommend a model)
/// This follows what Myers, Montgomery & Anderson-Cook, Response Surface Methodology, and the
/// handbooks of commercial packages advise to look at.
///
/// coded, y and options as in fit_least_squares. Throws FitError where not even the mean can be
/// fitted.
SequentialSummary sequential_summary(const std::vector<doe::Factor>& factors,
                                     const Eigen::MatrixXd& coded, const Eigen::VectorXd& y,
                                     const FitOptions& options = {});

}  // namespace doetune::surfaces
