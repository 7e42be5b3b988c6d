// A fit at many points at once, and as a quadratic.
#include <cmath>

#include "surfaces/fit.h"

namespace doetune::surfaces {
namespace {

/// The factors of a term's numeric part, a square twice.
std::vector<Eigen::Index> numeric_factors(const doe::Model& model, const doe::Term& term) {
  std::vector<Eigen::Index> factors;
  for (std::size_t f = 0; f < term.powers.size(); ++f) {
    if (model.factors()[f].is_categorical()) continue;
    factors.insert(factors.end(), term.powers[f], static_cast<Eigen::Index>(f));
  }
  return factors;
}

}  // namespace

Eigen::VectorXd Fit::responses(const Eigen::MatrixXd& points) const {
  Eigen::VectorXd values = model.matrix(points) * beta;
  if (transform == Transform::kNone) return values;
  for (double& value : values) value = back_transformed(transform, value);
  return values;
}

std::vector<Prediction> Fit::predictions(const Eigen::MatrixXd& points) const {
  const Eigen::MatrixXd x = model.matrix(points);
  const Eigen::VectorXd means = x * beta;
  const Eigen::MatrixXd product = x * unscaled_covariance;
  // By columns, as they lie in memory.
  Eigen::VectorXd factors = Eigen::VectorXd::Zero(points.rows());
  for (Eigen::Index c = 0; c < x.cols(); ++c) factors += product.col(c).cwiseProduct(x.col(c));
  const double s = sigma.value_or(0);
  std::vector<Prediction> predictions;
  for (Eigen::Index i = 0; i < points.rows(); ++i) {
    const double here = variance ? std::sqrt(variance->variance(points.row(i).transpose())) : 1;
    predictions.push_back({means[i], s * std::sqrt(std::max(0.0, factors[i])), s * here,
                           sigma ? static_cast<double>(df_residual) : 0, transform});
  }
  return predictions;
}

std::optional<QuadraticForm> Fit::quadratic(
    const Eigen::Ref<const Eigen::VectorXd>& coded_point) const {
  const auto k = static_cast<Eigen::Index>(model.factors().size());
  QuadraticForm q{0, Eigen::VectorXd::Zero(k), Eigen::MatrixXd::Zero(k, k)};
  // With its numeric factors at 1 a column is what its contrasts are at these levels.
  Eigen::VectorXd ones = coded_point;
  for (Eigen::Index f = 0; f < k; ++f) {
    if (!model.factors()[static_cast<std::size_t>(f)].is_categorical()) ones[f] = 1;
  }
  const Eigen::VectorXd slopes = model.row(ones).transpose().cwiseProduct(beta);
  for (int c = 0; c < model.column_count(); ++c) {
    const std::vector<Eigen::Index> factors =
        numeric_factors(model, model.terms()[model.columns()[c].term]);
    if (factors.size() > 2) return std::nullopt;
    if (factors.empty()) q.constant += slopes[c];
    if (factors.size() == 1) q.linear[factors[0]] += slopes[c];
    if (factors.size() < 2) continue;
    q.second(factors[0], factors[1]) += slopes[c] / 2;
    q.second(factors[1], factors[0]) += slopes[c] / 2;
  }
  return q;
}

}  // namespace doetune::surfaces
