// Sequential comparison of polynomial orders: the highest order that the runs support.
#pragma once

#include <Eigen/Core>
#include <optional>
#include <string>
#include <vector>

#include "surfaces/fit.h"

namespace doetune::surfaces {

/// One model of the sequence, with what it adds to the preceding one. Values that its fit does not
/// have are empty, as in Fit.
struct SequentialStep {
  std::string model;               ///< "mean", "linear", "interactions", "quadratic" or "cubic"
  std::vector<std::string> added;  ///< added terms that the runs determine
  /// Terms of the model that the runs do not determine because they are aliased with blocks,
  /// earlier terms or each other; everything below is for the model without them.
  std::vector<std::string> aliased;
  std::string problem;  ///< why there is no fit; empty if there is one
  int df = 0;           ///< columns added
  /// Test of the added terms against the error of this model: f = (SS / df) / s^2; with whole plots
  /// by Kenward & Roger's test with its own df_error, without a sum of squares.
  std::optional<double> sum_of_squares, df_error, f, p;
  std::optional<double> lack_of_fit_p;
  std::optional<double> sigma, r2, adjusted_r2, predicted_r2, press, aicc;
};

struct SequentialSummary {
  std::vector<SequentialStep> steps;  ///< those that add a term to the preceding one, and always
                                      ///< "mean"
  std::string suggested;              ///< the model of one of the steps
  std::string reason;                 ///< one sentence
};

/// Fits the named models in turn; each contains the preceding one.
///
/// The suggested model is the highest for which
///   1. nothing is aliased, and the added terms are significant (p < 0.05; "mean": always; where
///      nothing is left to test them against: if they explain any of it)
///   2. the lack of fit is not significant (p >= 0.05, or there is no test); if no model satisfies
///      this, the condition is dropped, and the reason says so
///   3. predicted R2 is not below that of a lower model that satisfies 1 and 2 (a missing value
///      counts as lowest, so that runs with leverage 1 do not favour a model)
/// This follows the advice of Myers, Montgomery & Anderson-Cook, Response Surface Methodology, and
/// of the handbooks of commercial packages.
///
/// coded, y and options as in fit_least_squares. Throws FitError if not even the mean can be
/// fitted.
SequentialSummary sequential_summary(const std::vector<doe::Factor>& factors,
                                     const Eigen::MatrixXd& coded, const Eigen::VectorXd& y,
                                     const FitOptions& options = {});

}  // namespace doetune::surfaces
