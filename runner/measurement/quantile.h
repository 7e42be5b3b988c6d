// Quantiles of measured values and their distribution-free confidence intervals.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace doetune::measurement {

/// Minimum number of independent values that support the q-quantile, 0 < q < 1: the smallest n with
/// P(B <= 1) <= 1 - confidence, B binomial with n and min(q, 1 - q). With fewer, the probability is
/// too high that at most one value lies beyond the quantile. This is the test by which MLPerf's
/// LoadGen ends a measurement early, without tolerance: at 99 %, 64 for q = 0.9 and 662 for q =
/// 0.99 (Reddi et al. 2020, MLPerf Inference Benchmark, ISCA; LoadGen, early stopping). Throws
/// std::invalid_argument for q or confidence outside of 0 to 1.
std::size_t min_count(double q, double confidence = 0.99);

/// An order statistic and those that bound the quantile.
struct QuantileInterval {
  double value = 0;  ///< the ceil(n q)-th smallest
  double low = 0;
  double high = 0;
};

/// The q-quantile with a two-sided confidence interval: the l-th and u-th smallest values, l the
/// largest and u the smallest with P(B < l) <= (1 - confidence) / 2 and P(B >= u) <= (1 -
/// confidence) / 2, B binomial with n and q (Hahn & Meeker 1991, Statistical Intervals, section
/// 5.2; Conover 1999, section 3.2); the minimum or maximum if there is no such l or u. Values must
/// be independent; for autocorrelated ones the interval is too short. Empty for fewer than
/// min_count(q) values.
std::optional<QuantileInterval> quantile_interval(std::span<const double> values, double q,
                                                  double confidence = 0.95);

}  // namespace doetune::measurement
