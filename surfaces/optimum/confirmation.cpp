#include "surfaces/optimum/confirmation.h"

#include <algorithm>
#include <cmath>

#include "surfaces/distributions.h"

namespace doetune::surfaces {
namespace {

double df_of_mean(const Prediction& prediction, int n) {
  if (!prediction.next_run_df) return prediction.df;
  const double of_mean = prediction.standard_error * prediction.standard_error;
  const double of_run = prediction.sigma * prediction.sigma;
  const double variance = of_mean + of_run / n;
  if (variance == 0) return prediction.df;
  const double share = 1.0 / n;
  const double root = (1 - share) * of_mean / variance / std::sqrt(prediction.df) +
                      share * (of_mean + of_run) / variance / std::sqrt(*prediction.next_run_df);
  return 1 / (root * root);
}

}  // namespace

Prediction measured_mean(const Transform& transform, const std::vector<double>& values) {
  Prediction measured;
  measured.transform = transform;
  const auto n = static_cast<double>(values.size());
  std::vector<double> z;
  for (const double value : values) z.push_back(transformed_or_end(transform, value));
  for (const double value : z) measured.mean += value / n;
  if (!std::isfinite(measured.mean) || values.size() < 2) return measured;
  double squares = 0;
  for (const double value : z) squares += (value - measured.mean) * (value - measured.mean);
  measured.df = n - 1;
  measured.sigma = std::sqrt(squares / measured.df);
  measured.standard_error = measured.sigma / std::sqrt(n);
  return measured;
}

std::optional<Interval> mean_range(const Prediction& prediction, int n, double level) {
  if (prediction.df == 0) return std::nullopt;
  Prediction of_mean = prediction;
  of_mean.df = df_of_mean(prediction, n);
  of_mean.standard_error = std::hypot(prediction.standard_error, prediction.sigma / std::sqrt(n));
  return of_mean.confidence_interval(level);
}

bool agrees(const Interval& range, double measured) {
  constexpr double kRounding = 1e-9;
  const double slack = kRounding * std::max(std::abs(range.low), std::abs(range.high));
  const double room = std::isfinite(slack) ? slack : 0;
  return measured >= range.low - room && measured <= range.high + room;
}

}  // namespace doetune::surfaces
