// Statistics of sampled time series over a time window.
#pragma once

#include <optional>
#include <vector>

namespace doetune::runner {

/// Seconds of CLOCK_MONOTONIC.
struct TimeWindow {
  double begin_s = 0;
  double end_s = 0;

  double length_s() const { return end_s - begin_s; }
};

struct Point {
  double time_s = 0;
  double value = 0;
};

/// In time order. All functions below return empty if the readings cover less than half of the
/// window, and otherwise refer to the covered part.
using Series = std::vector<Point>;

/// Time average with linear interpolation between readings (the trapezoidal rule).
std::optional<double> mean_between(const Series& series, const TimeWindow& window);

/// Time average of readings that each refer to the interval since the previous one.
std::optional<double> mean_of_spans(const Series& series, const TimeWindow& window);

/// Growth of a counter per second, linearly interpolated at the ends of the window. A fall is taken
/// as a reset.
std::optional<double> growth_per_s(const Series& counter, const TimeWindow& window);

/// The maximum and minimum reading in the window.
std::optional<double> max_reading(const Series& series, const TimeWindow& window);
std::optional<double> min_reading(const Series& series, const TimeWindow& window);

}  // namespace doetune::runner
