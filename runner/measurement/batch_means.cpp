#include "runner/measurement/batch_means.h"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <numeric>
#include <vector>

namespace doetune::measurement {
namespace {

constexpr std::size_t kMinBatches = 8;
constexpr std::size_t kFirstBatches = 32;
constexpr double kIndependence = 0.1;  ///< significance level of the test

std::vector<double> batches_of(std::span<const double> values, std::size_t size) {
  std::vector<double> batches;
  for (std::size_t from = values.size() % size; from < values.size(); from += size) {
    const auto batch = values.subspan(from, size);
    batches.push_back(std::accumulate(batch.begin(), batch.end(), 0.0) / static_cast<double>(size));
  }
  return batches;
}

/// Variance of the batches, and correlation of adjacent ones.
struct Spread {
  double variance = 0;
  double correlation = 0;
};

Spread spread_of(const std::vector<double>& batches) {
  const auto n = static_cast<double>(batches.size());
  const double average = std::accumulate(batches.begin(), batches.end(), 0.0) / n;
  double squares = 0;
  double differences = 0;
  for (std::size_t i = 0; i < batches.size(); ++i) {
    squares += std::pow(batches[i] - average, 2);
    if (i > 0) differences += std::pow(batches[i] - batches[i - 1], 2);
  }
  if (squares == 0) return {};
  const double ends =
      std::pow(batches.front() - average, 2) + std::pow(batches.back() - average, 2);
  return {squares / (n - 1), 1 - (differences + ends) / (2 * squares)};
}

/// Von Neumann's test, with the ratio as a correlation: normal with variance (n - 2) / (n^2 - 1)
/// under independence.
bool independent(double correlation, std::size_t batches) {
  const auto n = static_cast<double>(batches);
  const double deviate = correlation * std::sqrt((n * n - 1) / (n - 2));
  return deviate < boost::math::quantile(boost::math::normal(), 1 - kIndependence);
}

double half_width(const Spread& spread, std::size_t batches, double confidence) {
  const double r = std::clamp(spread.correlation, 0.0, 0.9);
  const double variance = spread.variance * (1 + r) / (1 - r) / static_cast<double>(batches);
  const boost::math::students_t student(static_cast<double>(batches - 1));
  return boost::math::quantile(student, (1 + confidence) / 2) * std::sqrt(variance);
}

}  // namespace

std::optional<double> Interval::relative() const {
  if (value == 0) return std::nullopt;
  return half_width / std::abs(value);
}

std::optional<Interval> ratio_interval(std::span<const double> numerators,
                                       std::span<const double> denominators, double confidence) {
  const std::size_t count = numerators.size();
  const double below = std::accumulate(denominators.begin(), denominators.end(), 0.0);
  if (count < kMinBatches || count != denominators.size() || below == 0) return std::nullopt;
  Interval interval;
  interval.value = std::accumulate(numerators.begin(), numerators.end(), 0.0) / below;
  std::vector<double> errors(count);
  for (std::size_t i = 0; i < count; ++i)
    errors[i] = numerators[i] - interval.value * denominators[i];
  Spread spread;
  for (std::size_t size = std::max<std::size_t>(count / kFirstBatches, 1);
       count / size >= kMinBatches; size *= 2) {
    const auto batches = batches_of(errors, size);
    spread = spread_of(batches);
    interval.batches = batches.size();
    interval.batch_size = size;
    interval.independent = independent(spread.correlation, batches.size());
    if (interval.independent) break;
  }
  interval.half_width = half_width(spread, interval.batches, confidence) /
                        std::abs(below / static_cast<double>(count));
  return interval;
}

std::optional<Interval> mean_interval(std::span<const double> values, double confidence) {
  return ratio_interval(values, std::vector<double>(values.size(), 1.0), confidence);
}

std::optional<Interval> independent_interval(std::span<const double> values, double confidence) {
  if (values.size() < 2) return std::nullopt;
  const std::vector<double> batches(values.begin(), values.end());
  const Spread spread{spread_of(batches).variance, 0};
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  return Interval{sum / static_cast<double>(values.size()),
                  half_width(spread, values.size(), confidence), values.size()};
}

}  // namespace doetune::measurement
