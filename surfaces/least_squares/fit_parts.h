// The parts that a fit is made of, each in its own source; for the sources of fits only.
#pragma once

#include <Eigen/Core>
#include <optional>
#include <string>
#include <vector>

#include "surfaces/fit.h"
#include "surfaces/least_squares/blocks.h"
#include "surfaces/least_squares/solution.h"

namespace doetune::surfaces {

/// z = T(y). Throws FitError for a response that is not finite or has no such value.
Eigen::VectorXd transformed_responses(const Eigen::VectorXd& y, Transform transform);

/// A sum of squares of the transformed responses `z`, or of parts of them; 0 where it is no more
/// than their rounding leaves, n (100 eps)^2 ||z||^2.
double without_rounding(double sum_of_squares, const Eigen::VectorXd& z);

/// What the residuals of points that were run more than once in a block consist of: scatter about
/// the mean of the point, and the distance of that mean from the fit. Neither is a difference of
/// large sums.
struct SplitResiduals {
  double pure_error = 0;
  double lack_of_fit = 0;
  int df_pure_error = 0;
  int df_lack_of_fit = 0;
};

/// Where the sum of squares of a fit comes from; what is no more than rounding is 0.
struct SumsOfSquares {
  std::vector<ModelPart> parts;  ///< as of a Solution
  double model = 0;              ///< of all parts but the blocks
  double residual = 0;
  double total = 0;  ///< about the mean, or about zero without the term 1
  int df_model = 0, df_residual = 0, df_total = 0;
  SplitResiduals split;
};

/// Of a fit whose residuals are known; `z` is the transformed response, `weights` the n weights
/// that the solution was found with.
SumsOfSquares sums_of_squares(const Fit& fit, const Solution& solution, const Eigen::VectorXd& z,
                              const Eigen::VectorXd& weights);

std::vector<AnovaRow> analysis_of_variance(const SumsOfSquares& sums);

/// Lack of fit against pure error, from points that were run more than once.
std::optional<LackOfFit> lack_of_fit(const SumsOfSquares& sums);

/// Why lack_of_fit is empty; empty where it is not.
std::string lack_of_fit_problem(const SumsOfSquares& sums);

/// Everything about the fit as a whole and about its runs; residuals and leverages are known, and
/// sigma where the loss is robust.
void add_diagnostics(Fit& fit, const SumsOfSquares& sums, const Eigen::VectorXd& z);

/// Turns the ordinary fit of runs whose responses are `z` (transformed) into that of runs in whole
/// plots, one number a run. Throws FitError where the variances cannot be told apart.
void use_whole_plots(Fit& fit, const Eigen::VectorXd& z, const std::vector<int>& numbers);

/// Of each column of the model, from the covariance of its coefficients; see Coefficient::vif.
std::vector<std::optional<double>> variance_inflation(const LeastSquaresProblem& problem,
                                                      const Eigen::MatrixXd& covariance);

/// The predicted responses, own unit, at the rows of a model matrix.
Eigen::VectorXd responses_at_rows(const Fit& fit, const Eigen::MatrixXd& x);

/// The tables of coefficients, of block effects and of natural coefficients; sigma is known.
/// `inflation` is of each column of the model.
void add_tables(Fit& fit, const Solution& solution,
                const std::vector<std::optional<double>>& inflation);

/// Empty for a model without squares, with terms above order two or with categorical factors, and
/// where the matrix of second-order coefficients is singular but for rounding.
std::optional<StationaryPoint> stationary_point(const Fit& fit);

}  // namespace doetune::surfaces
