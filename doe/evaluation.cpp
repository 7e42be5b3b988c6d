#include "doe/evaluation.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>

namespace doetune::doe {
namespace {

/// A column whose residual has at most this fraction of its norm depends on others.
constexpr double kNothing = 1e-10;

/// Above this reciprocal condition number X'X is surely regular and its determinant accurate.
constexpr double kFarFromSingular = 1e-6;

/// X'X
Eigen::MatrixXd information_of(const Eigen::MatrixXd& x) {
  Eigen::MatrixXd information = Eigen::MatrixXd::Zero(x.cols(), x.cols());
  information.selfadjointView<Eigen::Lower>().rankUpdate(x.transpose());
  information.triangularView<Eigen::StrictlyUpper>() = information.transpose();
  return information;
}

/// ln |X'X|, much faster than by a factorisation of X; empty if X'X, scaled to a unit diagonal, may
/// be singular.
std::optional<double> log_determinant_if_regular(const Eigen::MatrixXd& information) {
  const Eigen::VectorXd norms = information.diagonal().cwiseSqrt();
  if (!(norms.minCoeff() > 0)) return std::nullopt;
  const Eigen::VectorXd scale = norms.cwiseInverse();
  const Eigen::LLT<Eigen::MatrixXd> llt(scale.asDiagonal() * information * scale.asDiagonal());
  if (llt.info() != Eigen::Success || !(llt.rcond() > kFarFromSingular)) return std::nullopt;
  return 2 * (llt.matrixLLT().diagonal().array().log().sum() + norms.array().log().sum());
}

/// The columns that are no multiple of an earlier one: aliasing in factorial designs is of this
/// kind.
std::vector<int> distinct_columns(const Eigen::MatrixXd& x, const Eigen::MatrixXd& information) {
  std::vector<int> distinct;
  for (int c = 0; c < x.cols(); ++c) {
    const double square = information(c, c);
    const bool repeated = std::any_of(distinct.begin(), distinct.end(), [&](int d) {
      const double product = information(c, d);
      if (product * product < 0.999 * square * information(d, d)) return false;
      const double factor = product / information(d, d);
      return (x.col(c) - factor * x.col(d)).norm() <= kNothing * std::sqrt(square);
    });
    if (!repeated) distinct.push_back(c);
  }
  return distinct;
}

/// The columns that are linearly dependent on earlier ones: their residual after Gram-Schmidt
/// (twice, for accuracy) vanishes. Called for rank-deficient matrices, so at least the column with
/// the smallest residual is returned.
std::vector<std::string> dependent_columns(const Model& model, const Eigen::MatrixXd& x) {
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

/// The columns of a matrix that may be rank-deficient, other than `distinct`, if these are linearly
/// independent; otherwise empty.
std::vector<std::string> repeated_columns(const Model& model, const Eigen::MatrixXd& information,
                                          const std::vector<int>& distinct) {
  std::vector<std::string> names;
  if (!log_determinant_if_regular(information(distinct, distinct))) return names;
  for (int c = 0; c < model.column_count(); ++c) {
    if (!std::binary_search(distinct.begin(), distinct.end(), c)) {
      names.push_back(model.columns()[c].name);
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
  const Eigen::MatrixXd information = information_of(x);
  std::optional<double> log_det = log_determinant_if_regular(information);
  if (!log_det) {
    evaluation.aliases = repeated_columns(model, information, distinct_columns(x, information));
    if (!evaluation.aliases.empty()) return evaluation;
    const Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr(x);
    if (qr.rank() < x.cols()) {
      evaluation.aliases = dependent_columns(model, x);
      return evaluation;
    }
    log_det = 2 * qr.matrixQR().diagonal().head(x.cols()).array().abs().log().sum();
  }
  const bool orthogonal = information.isDiagonal(0);  // as in regular fractions, which may be large
  const Eigen::MatrixXd inverse =
      orthogonal ? Eigen::MatrixXd(information.diagonal().cwiseInverse().asDiagonal())
                 : information.ldlt().solve(Eigen::MatrixXd::Identity(x.cols(), x.cols()));
  const Eigen::VectorXd eigenvalues = orthogonal ? Eigen::VectorXd(information.diagonal())
                                                 : Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(
                                                       information, Eigen::EigenvaluesOnly)
                                                       .eigenvalues();
  evaluation.log_det = log_det;
  evaluation.d_efficiency = 100 * std::exp(*log_det / p) / n;
  evaluation.a_efficiency = 100 * p / (n * inverse.trace());
  evaluation.condition_number = eigenvalues.maxCoeff() / eigenvalues.minCoeff();
  evaluation.vif = inflation(model, x, inverse);
  return evaluation;
}

}  // namespace doetune::doe
