// One measurement of values of any kind, and results made of several.
#pragma once

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runner/measurement/batch_means.h"
#include "runner/measurement/measurement.h"
#include "workloads/protocol/protocol.h"

namespace doetune::workloads {

/// What is to be said of a measurement.
struct Conclusion {
  std::pair<double, double> window{};  ///< of the values that count, in seconds of the steady clock
  std::optional<bool> steady = {};
  std::string unsteady = {};  ///< what it is instead; empty where steady
  measurement::StoppedBy stopped_by = {};
};

/// Of a measurement that has stopped; `name` is that of its quantity, for messages.
Conclusion conclusion_of(const measurement::Measurement& times, const std::string& name,
                         std::size_t values);

/// A note where less was measured than wanted.
void note_repeats(std::size_t measured, int wanted, Result& result);

/// Steadiness, window and notes of one measurement or more, of `wanted`.
void add_conclusions(const std::vector<Conclusion>& measured, int wanted, Result& result);

/// One measurement.
template <class Value>
struct Measured : Conclusion {
  std::vector<Value> values = {};  ///< those that count
};

/// Takes the conclusion, and leaves out the values before the measurement was warm.
template <class Value>
void conclude(const measurement::Measurement& times, const std::string& name,
              Measured<Value>& measured) {
  static_cast<Conclusion&>(measured) = conclusion_of(times, name, measured.values.size());
  measured.values.erase(measured.values.begin(),
                        measured.values.begin() + static_cast<std::ptrdiff_t>(times.begin()));
}

/// A response that is one sum over the values over another; 0 where the other is 0.
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
