#include <Eigen/Dense>
#include <cmath>

#include "surfaces/least_squares/fit_parts.h"

namespace doetune::surfaces {

// With S the weighted cross-products of all columns except "1" about their means and R their
// correlations, the GVIF of columns T is |R_TT| |R_others| / |R| = |S_TT| |(S^-1)_TT|.
std::vector<std::optional<double>> variance_inflation(const LeastSquaresProblem& problem,
                                                      const Eigen::MatrixXd& covariance) {
  const doe::Model& model = problem.model;
  const Eigen::MatrixXd x = model.matrix(problem.coded);
  Eigen::VectorXd w = problem.weights;
  if (w.size() == 0) w = Eigen::VectorXd::Ones(x.rows());
  const bool about_mean = model_parts(model, problem.blocks).front().name == kMean;
  std::vector<std::optional<double>> vif(static_cast<std::size_t>(x.cols()));
  for (int t = 0; t < static_cast<int>(model.terms().size()); ++t) {
    if (model.terms()[t].order() == 0) continue;
    const std::vector<int> columns = model.columns_of(t);
    Eigen::MatrixXd own = x(Eigen::all, columns);
    if (about_mean) own.rowwise() -= (w.transpose() * own / w.sum()).eval();
    const Eigen::MatrixXd inverse = covariance(columns, columns);
    const double generalised =
        (own.transpose() * w.asDiagonal() * own).determinant() * inverse.determinant();
    for (const int c : columns) {
      vif[static_cast<std::size_t>(c)] =
          std::pow(generalised, 1 / static_cast<double>(columns.size()));
    }
  }
  return vif;
}

}  // namespace doetune::surfaces
