// Measurements of values of any type, and results from several of them.
#pragma once

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runner/measurement/batch_means.h"
#include "runner/measurement/measurement.h"
#include "workloads/protocol/protocol.h"

namespace doetune::workloads {

/// The conclusion of a measurement: time window, steadiness and reason for stopping.
struct Conclusion {
  std::pair<double, double> window{};  ///< after the warm-up, in seconds of the steady clock
  std::optional<bool> steady = {};
  std::string unsteady = {};  ///< why it is not steady; empty where it is
  measurement::StoppedBy stopped_by = {};
};

/// The conclusion of a measurement that has stopped; `name` is the quantity, for messages.
Conclusion conclusion_of(const measurement::Measurement& times, const std::string& name,
                         std::size_t values);

/// Adds a note if fewer measurements were taken than wanted.
void note_repeats(std::size_t measured, int wanted, Result& result);

/// Adds steadiness, window and notes of at least one measurement, of `wanted`.
void add_conclusions(const std::vector<Conclusion>& measured, int wanted, Result& result);

/// What percentiles are of, for messages.
struct PercentileOf {
  std::string_view counted;  ///< "requests"
  std::string_view remedy;   ///< "raise the setting requests", where there are too few
};

/// Adds the response `name`, the q-quantile of values: the mean over the measurements, with a
/// precision by order statistics over all of them together. A note instead if a measurement, of at
/// least one, has too few values (measurement::min_count).
void add_percentile(const std::string& name, double q,
                    const std::vector<std::vector<double>>& measured, const PercentileOf& of,
                    Result& result);

/// The quantiles among `percentiles` (name, q) that are requested.
std::vector<double> requested_quantiles(
    const std::vector<std::pair<std::string, double>>& percentiles,
    const std::vector<std::string>& responses);

/// Longer series are reported as means of consecutive values.
inline constexpr std::size_t kLongestSeries = 10'000;

/// Adds the series `name`, with a note if its values are means; `counted` is what it has values of.
void add_series(const std::string& name, const std::vector<double>& values,
                std::string_view counted, Result& result);

/// One measurement with its values.
template <class Value>
struct Measured : Conclusion {
  std::vector<Value> values = {};  ///< those after the warm-up
};

/// Sets the conclusion, and removes the values before the end of the warm-up.
template <class Value>
void conclude(const measurement::Measurement& times, const std::string& name,
              Measured<Value>& measured) {
  static_cast<Conclusion&>(measured) = conclusion_of(times, name, measured.values.size());
  measured.values.erase(measured.values.begin(),
                        measured.values.begin() + static_cast<std::ptrdiff_t>(times.begin()));
}

/// A response that is a ratio of two sums over the values; 0 where the denominator is 0.
template <class Value>
struct Ratio {
  std::string name;
  std::function<double(const Value&)> above;
  std::function<double(const Value&)> below;
};

template <class Value>
std::vector<double> each(const std::vector<Value>& values,
                         const std::function<double(const Value&)>& quantity) {
  std::vector<double> result;
  std::ranges::transform(values, std::back_inserter(result), quantity);
  return result;
}

inline double sum(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

template <class Value>
std::vector<Value> joined(const std::vector<Measured<Value>>& measured) {
  std::vector<Value> all;
  for (const auto& one : measured) all.insert(all.end(), one.values.begin(), one.values.end());
  return all;
}

/// Responses are means of the measurements, with half-widths by batch means over all values.
template <class Value>
Result ratio_result(const std::vector<Measured<Value>>& measured,
                    const std::vector<Ratio<Value>>& ratios, int wanted) {
  const std::vector<Value> all = joined(measured);
  Result result;
  for (const Ratio<Value>& ratio : ratios) {
    std::vector<double> repeats;
    for (const auto& one : measured) {
      const double below = sum(each(one.values, ratio.below));
      repeats.push_back(below > 0 ? sum(each(one.values, ratio.above)) / below : 0);
    }
    result.responses[ratio.name] = sum(repeats) / static_cast<double>(repeats.size());
    const auto interval =
        measurement::ratio_interval(each(all, ratio.above), each(all, ratio.below));
    const auto relative = interval ? interval->relative() : std::nullopt;
    if (relative) result.precision[ratio.name] = *relative;
    if (repeats.size() > 1) result.repeats[ratio.name] = std::move(repeats);
  }
  add_conclusions({measured.begin(), measured.end()}, wanted, result);
  result.stopped_by = measurement::stopped_by_name(measured.back().stopped_by);
  return result;
}

}  // namespace doetune::workloads
