// How well a mean, or a ratio of two sums, is known from values that hang together.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace doetune::measurement {

inline constexpr double kConfidence = 0.95;

/// A two-sided confidence interval, value +- half_width.
struct Interval {
  double value = 0;
  double half_width = 0;
  std::size_t batches = 0;
  std::size_t batch_size = 1;  ///< values in a batch
  bool independent = true;     ///< false: even the largest batches hang together, so that the
                               ///< interval is rather too short

  /// half_width / |value|; empty where the value is 0.
  std::optional<double> relative() const;
};

/// Interval of R = sum of numerators / sum of denominators, such as images over time, by batch
/// means: with Z_j the mean of y - R x over batch j of k,
///   half_width = t_{k-1} sqrt(A S^2 / k) / mean(x),  S^2 = sum Z_j^2 / (k - 1),
///   A = (1 + r) / (1 - r) with r >= 0 the correlation of neighbouring batches.
/// From 32 to 63 batches, half as many and so on down to 8, the first number is taken whose batches
/// pass von Neumann's test of independence at 10 % (Law & Kelton 1984, Oper. Res. 32, 169; Steiger
/// & Wilson 2002, INFORMS J. Comput. 14, 302; number: Schmeiser 1982, Oper. Res. 30, 556). A is
/// that of Skart (Tafazzoli, Wilson, Lada & Steiger 2011, INFORMS J. Comput. 23, 206). Values left
/// over are left out of S at the beginning, never out of R.
///
/// Empty below 8 values, and where the denominators sum to 0. What it covers by simulation of
/// several kinds of series: tests/runner/test_batch_means.cpp; values must hang together over less
/// than about a thirtieth of the series.
std::optional<Interval> ratio_interval(std::span<const double> numerators,
                                       std::span<const double> denominators,
                                       double confidence = kConfidence);

/// The same of a mean.
std::optional<Interval> mean_interval(std::span<const double> values,
                                      double confidence = kConfidence);

/// Student's interval of the mean of independent values, such as repeats. Empty below 2 values.
std::optional<Interval> independent_interval(std::span<const double> values,
                                             double confidence = kConfidence);

}  // namespace doetune::measurement
