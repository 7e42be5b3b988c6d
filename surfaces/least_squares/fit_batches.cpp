// Batch evaluation of a fit, and its representation as a quadratic form.
#include <cmath>
#include <limits>

#include "surfaces/fit.h"
#include "surfaces/least_squares/fit_parts.h"

namespace doetune::surfaces {
namespace {

/// The factors of a term's numeric part; a squared factor is listed twice.
std::vector<Eigen::Index> numeric_factors(const doe::Model& model, const doe::Term& term) {
  std::vector<Eigen::Index> factors;
  for (std::size_t f = 0; f < term.powers.size(); ++f) {
    if (model.factors()[f].is_categorical()) continue;
    factors.insert(factors.end(), term.powers[f], static_cast<Eigen::Index>(f));
  }
  return factors;
}

/// A coefficient, or 0 if it is within the rounding of the responses: for exact data a zero
/// coefficient is estimated as about 1e-17, which would put the stationary point far away.
double beyond_rounding(const Fit& fit, int column) {
  constexpr double kRounding = 100 * std::numeric_limits<double>::epsilon();
  const double size = std::hypot(fit.fitted.norm(), fit.residuals.norm());
  const double root = std::sqrt(fit.unscaled_covariance(column, column));
  return std::abs(fit.beta[column]) > kRounding * size * root ? fit.beta[column] : 0;
}

}  // namespace

Eigen::VectorXd responses_at_rows(const Fit& fit, const Eigen::MatrixXd& x) {
  Eigen::VectorXd values = x * fit.beta;
  if (fit.transform == Transform::kNone) return values;
  for (double& value : values) value = back_transformed(fit.transform, value);
  return values;
}

Eigen::VectorXd Fit::responses(const Eigen::MatrixXd& points) const {
  return responses_at_rows(*this, model.matrix(points));
}

std::vector<Prediction> Fit::predictions(const Eigen::MatrixXd& points) const {
  const Eigen::MatrixXd x = model.matrix(points);
  const Eigen::VectorXd means = x * beta;
  const Eigen::MatrixXd product = x * unscaled_covariance;
  // By columns, for contiguous memory access.
  Eigen::VectorXd factors = Eigen::VectorXd::Zero(points.rows());
  for (Eigen::Index c = 0; c < x.cols(); ++c) factors += product.col(c).cwiseProduct(x.col(c));
  const double s = sigma.value_or(0);
  std::vector<Prediction> predictions;
  for (Eigen::Index i = 0; i < points.rows(); ++i) {
    const double here = variance ? std::sqrt(variance->variance(points.row(i).transpose())) : 1;
    predictions.push_back({means[i], s * std::sqrt(std::max(0.0, factors[i])), s * here,
                           sigma ? static_cast<double>(df_residual) : 0, transform});
    if (!split_plot) continue;
    predictions.back().df = split_plot->errors.df(x.row(i));
    predictions.back().next_run_df = split_plot->errors.next_run_df(x.row(i));
  }
  return predictions;
}

std::optional<QuadraticForm> Fit::quadratic(
    const Eigen::Ref<const Eigen::VectorXd>& coded_point) const {
  const auto k = static_cast<Eigen::Index>(model.factors().size());
  QuadraticForm q{0, Eigen::VectorXd::Zero(k), Eigen::MatrixXd::Zero(k, k)};
  // With the numeric factors at 1, a column equals its contrasts at these levels.
  Eigen::VectorXd ones = coded_point;
  for (Eigen::Index f = 0; f < k; ++f) {
    if (!model.factors()[static_cast<std::size_t>(f)].is_categorical()) ones[f] = 1;
  }
  const Eigen::RowVectorXd contrasts = model.row(ones);
  for (int c = 0; c < model.column_count(); ++c) {
    const std::vector<Eigen::Index> factors =
        numeric_factors(model, model.terms()[model.columns()[c].term]);
    if (factors.size() > 2) return std::nullopt;
    const double slope = contrasts[c] * beyond_rounding(*this, c);
    if (factors.empty()) q.constant += slope;
    if (factors.size() == 1) q.linear[factors[0]] += slope;
    if (factors.size() < 2) continue;
    q.second(factors[0], factors[1]) += slope / 2;
    q.second(factors[1], factors[0]) += slope / 2;
  }
  return q;
}

}  // namespace doetune::surfaces
