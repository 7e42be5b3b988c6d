#include "workloads/timing/measured.h"

#include <fmt/format.h>

#include "runner/measurement/quantile.h"

namespace doetune::workloads {
namespace {

/// Steady if all measurements are, not steady if one is not, else unknown.
std::optional<bool> steady(const std::vector<Conclusion>& measured) {
  std::optional<bool> all = true;
  for (const Conclusion& one : measured) {
    if (one.steady == false) return false;
    if (!one.steady) all.reset();
  }
  return all;
}

}  // namespace

Conclusion conclusion_of(const measurement::Measurement& times, const std::string& name,
                         std::size_t values) {
  Conclusion conclusion{{times.begin_s(), times.end_s()}, times.steady(), {}, *times.stopped_by()};
  if (conclusion.steady == false)
    conclusion.unsteady = measurement::unsteady_sentence(name, *times.steadiness(), values);
  return conclusion;
}

void note_repeats(std::size_t measured, int wanted, Result& result) {
  if (static_cast<int>(measured) < wanted)
    result.notes["repeats"] =
        fmt::format("{} of {} measurements fit into the time limit", measured, wanted);
}

void add_conclusions(const std::vector<Conclusion>& measured, int wanted, Result& result) {
  for (const Conclusion& one : measured) {
    if (one.stopped_by == measurement::StoppedBy::kTimeLimit)
      result.notes["time_limit"] = "the measurement was ended early to meet the time limit";
    if (!one.unsteady.empty()) result.notes["steady"] = one.unsteady;
  }
  note_repeats(measured.size(), wanted, result);
  result.steady = steady(measured);
  result.window = {measured.front().window.first, measured.back().window.second};
}

void add_percentile(const std::string& name, double q,
                    const std::vector<std::vector<double>>& measured, const PercentileOf& of,
                    Result& result) {
  const std::size_t fewest = std::ranges::min(measured, {}, &std::vector<double>::size).size();
  const std::size_t needed = measurement::min_count(q);
  if (fewest < needed) {
    result.notes[name] = fmt::format("a {:g} % quantile needs {} {}, but {} were measured; {}",
                                     100 * q, needed, of.counted, fewest, of.remedy);
    return;
  }
  std::vector<double> all, repeats;
  for (const std::vector<double>& values : measured) {
    repeats.push_back(measurement::quantile_interval(values, q)->value);
    all.insert(all.end(), values.begin(), values.end());
  }
  result.responses[name] = sum(repeats) / static_cast<double>(repeats.size());
  const auto interval = *measurement::quantile_interval(all, q);
  if (interval.value != 0)
    result.precision[name] =
        std::max(interval.high - interval.value, interval.value - interval.low) / interval.value;
  if (repeats.size() > 1) result.repeats[name] = std::move(repeats);
}

std::vector<double> requested_quantiles(
    const std::vector<std::pair<std::string, double>>& percentiles,
    const std::vector<std::string>& responses) {
  std::vector<double> quantiles;
  for (const auto& [name, q] : percentiles)
    if (std::ranges::find(responses, name) != responses.end()) quantiles.push_back(q);
  return quantiles;
}

void add_series(const std::string& name, const std::vector<double>& values,
                std::string_view counted, Result& result) {
  const std::size_t size = (values.size() + kLongestSeries - 1) / kLongestSeries;
  std::vector<double>& series = result.series[name];
  for (auto from = values.begin(); from != values.end();) {
    const auto to = from + std::min<std::ptrdiff_t>(size, values.end() - from);
    series.push_back(std::accumulate(from, to, 0.0) / static_cast<double>(to - from));
    from = to;
  }
  if (size > 1) result.notes["series"] = fmt::format("means of {} {} each", size, counted);
}

}  // namespace doetune::workloads
