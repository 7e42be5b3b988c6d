#include "runner/telemetry/series.h"

#include <algorithm>

namespace doetune::runner {
namespace {

constexpr double kMinCoverage = 0.5;

/// The part of an interval between readings that lies in the window; of length 0 if there is none.
TimeWindow overlap(const Point& from, const Point& to, const TimeWindow& window) {
  const double begin_s = std::max(from.time_s, window.begin_s);
  return {begin_s, std::max(begin_s, std::min(to.time_s, window.end_s))};
}

double between(const Point& from, const Point& to, double time_s) {
  const double part = (time_s - from.time_s) / (to.time_s - from.time_s);
  return from.value + part * (to.value - from.value);
}

/// The sum of `add` over the intervals between readings, each restricted to the window, divided by
/// the time covered.
template <class Add>
std::optional<double> over_spans(const Series& series, const TimeWindow& window, const Add& add) {
  double covered_s = 0;
  double sum = 0;
  for (std::size_t i = 1; i < series.size(); ++i) {
    const TimeWindow part = overlap(series[i - 1], series[i], window);
    if (part.length_s() <= 0) continue;
    covered_s += part.length_s();
    sum += add(series[i - 1], series[i], part);
  }
  if (covered_s <= 0 || covered_s < kMinCoverage * window.length_s()) return std::nullopt;
  return sum / covered_s;
}

template <class Choose>
std::optional<double> chosen(const Series& series, const TimeWindow& window, const Choose& choose) {
  std::optional<double> best;
  for (const Point& point : series) {
    if (point.time_s < window.begin_s || point.time_s > window.end_s) continue;
    best = best ? choose(*best, point.value) : point.value;
  }
  return best;
}

}  // namespace

std::optional<double> mean_between(const Series& series, const TimeWindow& window) {
  return over_spans(series, window, [](const Point& from, const Point& to, const TimeWindow& part) {
    return between(from, to, (part.begin_s + part.end_s) / 2) * part.length_s();
  });
}

std::optional<double> mean_of_spans(const Series& series, const TimeWindow& window) {
  return over_spans(series, window, [](const Point&, const Point& to, const TimeWindow& part) {
    return to.value * part.length_s();
  });
}

std::optional<double> growth_per_s(const Series& counter, const TimeWindow& window) {
  return over_spans(counter, window,
                    [](const Point& from, const Point& to, const TimeWindow& part) {
                      const double growth = std::max(0.0, to.value - from.value);
                      return growth * part.length_s() / (to.time_s - from.time_s);
                    });
}

std::optional<double> max_reading(const Series& series, const TimeWindow& window) {
  return chosen(series, window, [](double a, double b) { return std::max(a, b); });
}

std::optional<double> min_reading(const Series& series, const TimeWindow& window) {
  return chosen(series, window, [](double a, double b) { return std::min(a, b); });
}

}  // namespace doetune::runner
