#include "surfaces/surface.h"

#include <algorithm>
#include <cmath>

#include "surfaces/distributions.h"

namespace doetune::surfaces {
namespace {

/// mean +- half_width, in the response's own unit; `inverse` turns the ends around.
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
  return back(*this, t_quantile(level, df) * next_run_error(*this));
}

std::optional<Interval> Prediction::tolerance_interval(double coverage, double level) const {
  if (df == 0) return std::nullopt;
  if (sigma == 0) return confidence_interval(level);
  // With an infinite df the estimate of sigma is sigma.
  const double spread = std::isinf(df) ? 1 : df / chi_squared_quantile(1 - level, df);
  return back(*this, normal_quantile(coverage) * std::sqrt(spread) * next_run_error(*this));
}

std::optional<double> Prediction::probability_within(double low, double high) const {
  if (df == 0) return std::nullopt;
  const auto [z_low, z_high] = transformed_range(transform, low, high);
  if (z_low > z_high) return 0;
  const double error = next_run_error(*this);
  if (error == 0) return mean >= z_low && mean <= z_high ? 1.0 : 0.0;
  return t_probability((z_high - mean) / error, df) - t_probability((z_low - mean) / error, df);
}

}  // namespace doetune::surfaces
