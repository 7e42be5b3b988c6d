// Quantities over a window of time, from readings at moments.
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

/// In the order of time. All of these are empty where the readings cover less than half of the
/// window, and else speak of the part covered.
using Series = std::vector<Point>;

/// Mean of what changes steadily: readings joined by straight lines (the trapezoidal rule).
std::optional<double> mean_between(const Series& series, const TimeWindow& window);

/// Mean of readings that each speak of the time since the one before.
std::optional<double> mean_of_spans(const Series& series, const TimeWindow& window);

/// Growth per second of a counter: its difference, interpolated at the window's ends, over the time
/// between. Where it falls it began anew.
std::optional<double> growth_per_s(const Series& counter, const TimeWindow& window);

/// The greatest reading in the window, and the least.
std::optional<double> greatest(const Series& series, const TimeWindow& window);
std::optional<double> least(const Series& series, const TimeWindow& window);

}  // namespace doetune::runner
