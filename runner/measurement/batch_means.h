// Confidence intervals for means and ratios of autocorrelated values, by batch means.
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
  std::size_t batch_size = 1;  ///< values per batch
  bool independent = true;  ///< false if even the largest batches are correlated; the interval is
                            ///< then likely too short

  /// half_width / |value|; empty if the value is 0.
  std::optional<double> relative() const;
};

/// Confidence interval for R = sum of numerators / sum of denominators, such as images over time,
/// by batch means. With Z_j the mean of y - R x over batch j of k,
///   half_width = t_{k-1} sqrt(A S^2 / k) / mean(x),  S^2 = sum Z_j^2 / (k - 1),
///   A = (1 + r) / (1 - r) with r >= 0 the correlation of adjacent batches.
/// Batch counts of 32 to 63 and successive halves down to 8 are tried; the first whose batches pass
/// von Neumann's test of independence at 10 % is used (Law & Kelton 1984, Oper. Res. 32, 169;
/// Steiger & Wilson 2002, INFORMS J. Comput. 14, 302; number: Schmeiser 1982, Oper. Res. 30, 556).
/// A is that of Skart (Tafazzoli, Wilson, Lada & Steiger 2011, INFORMS J. Comput. 23, 206). Values
/// that do not fill a batch are omitted at the beginning from S, never from R.
///
/// Empty for fewer than 8 values, and if the denominators sum to 0. Coverage for several kinds of
/// simulated series: tests/runner/test_batch_means.cpp; the correlation must not extend over more
/// than about a thirtieth of the series.
std::optional<Interval> ratio_interval(std::span<const double> numerators,
                                       std::span<const double> denominators,
                                       double confidence = kConfidence);

/// Confidence interval for a mean, as ratio_interval with denominators 1.
std::optional<Interval> mean_interval(std::span<const double> values,
                                      double confidence = kConfidence);

/// Student's interval for the mean of independent values, such as repeats. Empty for fewer than 2
/// values.
std::optional<Interval> independent_interval(std::span<const double> values,
                                             double confidence = kConfidence);

}  // namespace doetune::measurement
