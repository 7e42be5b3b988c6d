// The parts that a fit is made of, each in its own source; for fit.cpp only.
#pragma once

#include <Eigen/Core>
#include <optional>
#include <string>
#include <vector>

#include "surfaces/fit.h"

namespace doetune::surfaces {

/// A sum of squares of the transformed responses `z`, or of parts of them; 0 where it is no more
/// than their rounding leaves, n (100 eps)^2 ||z||^2.
double without_rounding(double sum_of_squares, const Eigen::VectorXd& z);

/// How many blocks the runs lie in; 1 where no block numbers are given.
int block_count(const std::vector<int>& blocks);

/// The n x (blocks - 1) sum-to-zero contrasts: 1 in the block, -1 in the first one.
Eigen::MatrixXd block_contrasts(const std::vector<int>& blocks, Eigen::Index n);

/// Responses less the mean of their block.
Eigen::VectorXd about_block_means(const std::vector<int>& blocks, const Eigen::VectorXd& z);

/// Of each column of the model, from unscaled_covariance; see Coefficient::vif.
std::vector<std::optional<double>> variance_inflation(const Fit& fit);

/// The columns of the model and of the block contrasts, n x p.
Eigen::MatrixXd full_matrix(const Fit& fit);

constexpr const char* kBlockPart = "blocks";

/// A part of the analysis of variance: "mean", "blocks", "first order" and so on.
struct ModelPart {
  std::string name;
  std::vector<int> columns;  ///< of full_matrix
};

/// Those that have columns, in the order they are fitted.
std::vector<ModelPart> model_parts(const Fit& fit);

/// Turns the ordinary fit of runs whose responses are `z` (transformed) into that of runs in whole
/// plots, one number a run. Throws FitError where the variances cannot be told apart.
void use_whole_plots(Fit& fit, const Eigen::VectorXd& z, const std::vector<int>& numbers);

/// The analysis of variance of a fit whose residuals are known; `z` is the transformed response.
std::vector<AnovaRow> analysis_of_variance(const Fit& fit, const Eigen::VectorXd& z);

/// Lack of fit against pure error, from points that were run more than once.
std::optional<LackOfFit> lack_of_fit(const Fit& fit, const Eigen::VectorXd& z);

/// Why lack_of_fit is empty; empty where it is not.
std::string lack_of_fit_problem(const Fit& fit, const Eigen::VectorXd& z);

/// The polynomial in natural units: coded terms expanded in extended precision.
/// Terms with categorical factors keep their contrasts, "precision[fp32]".
std::vector<NaturalCoefficient> natural_coefficients(const Fit& fit);

/// Empty for a model without squares, with terms above order two or with categorical factors, and
/// where the matrix of second-order coefficients is singular but for rounding.
std::optional<StationaryPoint> stationary_point(const Fit& fit);

}  // namespace doetune::surfaces
