#include <Eigen/Dense>
#include <cmath>

#include "surfaces/least_squares/fit_parts.h"

namespace doetune::surfaces {

// With S the weighted cross-products of all columns but "1" about their means, GVIF of the columns
// T is |R_TT| |R_others| / |R| of their correlations R, which is |S_TT| |(S^-1)_TT|.
std::vector<std::optional<double>> variance_inflation(const Fit& fit) {
  const Eigen::MatrixXd x = fit.model.matrix(fit.coded);
  const Eigen::VectorXd w = fit.weights.size() > 0 ? fit.weights : Eigen::VectorXd::Ones(fit.n);
  const bool about_mean = fit.has_intercept();
  std::vector<std::optional<double>> vif(static_cast<std::size_t>(x.cols()));
  for (int t = 0; t < static_cast<int>(fit.model.terms().size()); ++t) {
    if (fit.model.terms()[t].order() == 0) continue;
    const std::vector<int> columns = fit.model.columns_of(t);
    Eigen::MatrixXd own = x(Eigen::all, columns);
    if (about_mean) own.rowwise() -= (w.transpose() * own / w.sum()).eval();
    const Eigen::MatrixXd inverse = fit.unscaled_covariance(columns, columns);
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
