// Building blocks of a fit, each in its own source file; internal to the fit sources.
#pragma once

#include <Eigen/Core>
#include <optional>
#include <string>
#include <vector>

#include "surfaces/fit.h"
#include "surfaces/least_squares/blocks.h"
#include "surfaces/least_squares/solution.h"

namespace doetune::surfaces {

/// z = T(y). Throws FitError for a response that is not finite or outside the transform's domain.
Eigen::VectorXd transformed_responses(const Eigen::VectorXd& y, Transform transform);

/// A sum of squares of (parts of) the transformed responses `z`; 0 if it is within their rounding,
/// n (100 eps)^2 ||z||^2.
double without_rounding(double sum_of_squares, const Eigen::VectorXd& z);

/// Decomposition of the residuals of replicated points (within a block): scatter about the mean of
/// the point, and the distance of that mean from the fit. Neither is computed as a difference of
/// large sums.
struct SplitResiduals {
  double pure_error = 0;
  double lack_of_fit = 0;
  int df_pure_error = 0;
  int df_lack_of_fit = 0;
};

/// Decomposition of the total sum of squares; values within rounding are 0.
struct SumsOfSquares {
  std::vector<ModelPart> parts;  ///< as in Solution
  double model = 0;              ///< all parts except blocks
  double residual = 0;
  double total = 0;  ///< about the mean, or about zero without the term 1
  int df_model = 0, df_residual = 0, df_total = 0;
  SplitResiduals split;
};

/// For a fit whose residuals are set; `z` is the transformed response, `weights` the n weights used
/// for the solution.
SumsOfSquares sums_of_squares(const Fit& fit, const Solution& solution, const Eigen::VectorXd& z,
                              const Eigen::VectorXd& weights);

std::vector<AnovaRow> analysis_of_variance(const SumsOfSquares& sums);

/// Lack of fit against pure error, from replicated points.
std::optional<LackOfFit> lack_of_fit(const SumsOfSquares& sums);

/// The reason why lack_of_fit is empty; empty if it is not.
std::string lack_of_fit_problem(const SumsOfSquares& sums);

/// Sets the statistics of the fit and of its runs; requires residuals and leverages, and sigma if
/// the loss is robust.
void add_diagnostics(Fit& fit, const SumsOfSquares& sums, const Eigen::VectorXd& z);

/// Converts the ordinary fit of runs with responses `z` (transformed) into that of runs in whole
/// plots, one number per run. Throws FitError if the two variances cannot be separated.
void use_whole_plots(Fit& fit, const Eigen::VectorXd& z, const std::vector<int>& numbers);

/// For each column of the model, from the covariance of the coefficients; see Coefficient::vif.
std::vector<std::optional<double>> variance_inflation(const LeastSquaresProblem& problem,
                                                      const Eigen::MatrixXd& covariance);

/// The predicted responses, own unit, at the rows of a model matrix.
Eigen::VectorXd responses_at_rows(const Fit& fit, const Eigen::MatrixXd& x);

/// Sets the tables of coefficients, block effects and natural coefficients; requires sigma.
/// `inflation` has one entry per column of the model.
void add_tables(Fit& fit, const Solution& solution,
                const std::vector<std::optional<double>>& inflation);

/// Empty for a model without squares, with terms above order two or with categorical factors, and
/// if the matrix of second-order coefficients is numerically singular.
std::optional<StationaryPoint> stationary_point(const Fit& fit);

}  // namespace doetune::surfaces
