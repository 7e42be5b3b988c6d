#include "doe/evaluation.h"

#include <Eigen/Dense>
#include <cmath>

namespace doetune::doe {
namespace {

/// The columns that a pivoted QR finds to depend on the ones before them.
std::vector<std::string> dependent_columns(const Model& model, const Eigen::MatrixXd& x) {
  std::vector<std::string> names;
  Eigen::MatrixXd kept(x.rows(), 0);
  for (int c = 0; c < model.column_count(); ++c) {
    Eigen::MatrixXd candidate(x.rows(), kept.cols() + 1);
    candidate << kept, x.col(c);
    if (Eigen::ColPivHouseholderQR<Eigen::MatrixXd>(candidate).rank() < candidate.cols()) {
      names.push_back(model.columns()[c].name);
    } else {
      kept = std::move(candidate);
    }
  }
  return names;
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
