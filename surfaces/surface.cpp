#include "surfaces/surface.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "surfaces/distributions.h"

namespace doetune::surfaces {
namespace {

/// mean +- half_width, in the response's own unit; `inverse` swaps the ends.
Interval back(const Prediction& prediction, double half_width) {
  const double a = back_transformed(prediction.transform, prediction.mean - half_width);
  const double b = back_transformed(prediction.transform, prediction.mean + half_width);
  return {std::min(a, b), std::max(a, b)};
}

double next_run_error(const Prediction& prediction) {
  return std::hypot(prediction.standard_error, prediction.sigma);
}

}  // namespace

double Prediction::response() const { return back_transformed(transform, mean); }

std::optional<Interval> Prediction::confidence_interval(double level) const {
  if (df == 0) return std::nullopt;
  return back(*this, t_quantile(level, df) * standard_error);
}

std::optional<Interval> Prediction::prediction_interval(double level) const {
  if (df == 0) return std::nullopt;
  return back(*this, t_quantile(level, next_run_df.value_or(df)) * next_run_error(*this));
}

std::optional<Interval> Prediction::tolerance_interval(double coverage, double level) const {
  if (df == 0) return std::nullopt;
  if (sigma == 0) return confidence_interval(level);
  // With infinite df sigma is known exactly.
  const double df_of_error = next_run_df.value_or(df);
  const double spread =
      std::isinf(df_of_error) ? 1 : df_of_error / chi_squared_quantile(1 - level, df_of_error);
  return back(*this, normal_quantile(coverage) * std::sqrt(spread) * next_run_error(*this));
}

std::optional<Interval> Prediction::standardised(double low, double high) const {
  if (df == 0) return std::nullopt;
  const auto [z_low, z_high] = transformed_range(transform, low, high);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (z_low > z_high) return Interval{kInfinity, -kInfinity};
  const double error = next_run_error(*this);
  if (error > 0) return Interval{(z_low - mean) / error, (z_high - mean) / error};
  return Interval{mean >= z_low ? -kInfinity : kInfinity, mean <= z_high ? kInfinity : -kInfinity};
}

std::optional<double> Prediction::probability_within(double low, double high) const {
  const std::optional<Interval> ends = standardised(low, high);
  if (!ends) return std::nullopt;
  const double df_of_error = next_run_df.value_or(df);
  return std::max(0.0,
                  t_probability(ends->high, df_of_error) - t_probability(ends->low, df_of_error));
}

Eigen::VectorXd Surface::responses(const Eigen::MatrixXd& coded) const {
  Eigen::VectorXd values(coded.rows());
  for (Eigen::Index i = 0; i < coded.rows(); ++i) values[i] = response(coded.row(i).transpose());
  return values;
}

std::vector<Prediction> Surface::predictions(const Eigen::MatrixXd& coded) const {
  std::vector<Prediction> predictions;
  for (Eigen::Index i = 0; i < coded.rows(); ++i) {
    predictions.push_back(predict(coded.row(i).transpose()));
  }
  return predictions;
}

}  // namespace doetune::surfaces
