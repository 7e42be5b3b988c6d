#include "doe/evaluation.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>

namespace doetune::doe {
namespace {

/// The columns that are linearly dependent on earlier ones: their residual after Gram-Schmidt
/// (twice, for accuracy) vanishes. Called for rank-deficient matrices, so at least the column with
/// the smallest residual is returned.
std::vector<std::string> dependent_columns(const Model& model, const Eigen::MatrixXd& x) {
  constexpr double kNothing = 1e-10;
  Eigen::MatrixXd basis(x.rows(), std::min(x.rows(), x.cols()));
  Eigen::Index kept = 0;
  std::vector<std::string> names;
  double least = std::numeric_limits<double>::infinity();
  std::string nearest;
  for (int c = 0; c < model.column_count(); ++c) {
    Eigen::VectorXd rest = x.col(c);
    for (int pass = 0; pass < 2; ++pass) {
      rest -= basis.leftCols(kept) * (basis.leftCols(kept).transpose() * rest);
    }
    const double left = rest.norm() / x.col(c).norm();
    if (left > kNothing && kept < basis.cols()) {
      if (left < least) nearest = model.columns()[c].name;
      least = std::min(left, least);
      basis.col(kept++) = rest.normalized();
    } else {
      names.push_back(model.columns()[c].name);
    }
  }
  return names.empty() ? std::vector{nearest} : names;
}

/// VIF of a column: its diagonal entry of (X'X)^-1 times its sum of squares about the mean.
std::vector<std::pair<std::string, double>> inflation(const Model& model, const Eigen::MatrixXd& x,
                                                      const Eigen::MatrixXd& inverse) {
  std::vector<std::pair<std::string, double>> vif;
  for (int c = 0; c < model.column_count(); ++c) {
    const double spread = (x.col(c).array() - x.col(c).mean()).square().sum();
    if (spread > 0) vif.emplace_back(model.columns()[c].name, inverse(c, c) * spread);
  }
  return vif;
}

}  // namespace

Evaluation evaluate(const Model& model, const Eigen::MatrixXd& coded) {
  const Eigen::MatrixXd x = model.matrix(coded);
  const auto n = static_cast<double>(x.rows());
  const auto p = static_cast<double>(x.cols());
  Evaluation evaluation;
  evaluation.runs = static_cast<int>(x.rows());
  evaluation.terms = static_cast<int>(x.cols());
  const Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr(x);
  if (qr.rank() < x.cols()) {
    evaluation.aliases = dependent_columns(model, x);
    return evaluation;
  }
  const double log_det = 2 * qr.matrixQR().diagonal().head(x.cols()).array().abs().log().sum();
  const Eigen::MatrixXd information = x.transpose() * x;
  const Eigen::MatrixXd inverse =
      information.ldlt().solve(Eigen::MatrixXd::Identity(x.cols(), x.cols()));
  const Eigen::VectorXd eigenvalues =
      Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(information, Eigen::EigenvaluesOnly)
          .eigenvalues();
  evaluation.log_det = log_det;
  evaluation.d_efficiency = 100 * std::exp(log_det / p) / n;
  evaluation.a_efficiency = 100 * p / (n * inverse.trace());
  evaluation.condition_number = eigenvalues.maxCoeff() / eigenvalues.minCoeff();
  evaluation.vif = inflation(model, x, inverse);
  return evaluation;
}

}  // namespace doetune::doe
