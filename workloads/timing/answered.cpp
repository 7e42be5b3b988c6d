#include "workloads/timing/answered.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace doetune::workloads {
namespace {

bool always(const Answered&) { return true; }
bool has_token(const Answered& request) { return request.first_token_s > 0; }
bool has_tokens(const Answered& request) { return has_token(request) && request.output_tokens > 1; }

/// A response with percentiles, NAME_p50 and so on, of the requests that have it.
struct Duration {
  const char* name;
  double Answered::*quantity;
  bool (*has)(const Answered&);
  const char* description;
};

constexpr std::array<Duration, 3> kDurations{
    {{"latency", &Answered::latency_s, always,
      "time from the intended start of a request to its end"},
     {"time_to_first_token", &Answered::first_token_s, has_token,
      "time from the intended start of a request to its first token"},
     {"inter_token_latency", &Answered::inter_token_s, has_tokens,
      "mean time between the tokens of a request, after its first"}}};

struct Percentile {
  const char* suffix;
  double q;
};

constexpr std::array<Percentile, 3> kPercentiles{{{"_p50", 0.5}, {"_p90", 0.9}, {"_p99", 0.99}}};

/// The values of each measurement.
std::vector<std::vector<double>> values_of(const std::vector<std::vector<Answered>>& measured,
                                           const Duration& duration) {
  std::vector<std::vector<double>> values(measured.size());
  for (std::size_t i = 0; i < measured.size(); ++i)
    for (const Answered& request : measured[i])
      if (duration.has(request)) values[i].push_back(request.*duration.quantity);
  return values;
}

}  // namespace

std::vector<Ratio<Answered>> answered_ratios() {
  const auto elapsed = [](const Answered& request) { return request.elapsed_s; };
  std::vector<Ratio<Answered>> all{
      {"requests_per_second", [](const Answered&) { return 1.0; }, elapsed},
      {"output_tokens_per_second", [](const Answered& request) { return request.output_tokens; },
       elapsed}};
  for (const Duration& each : kDurations)
    all.push_back({each.name, each.quantity,
                   [&each](const Answered& request) { return each.has(request) ? 1.0 : 0.0; }});
  return all;
}

std::vector<Response> time_responses() {
  std::vector<Response> all;
  for (const Duration& duration : kDurations) {
    all.push_back({duration.name, "s", std::string("mean ") + duration.description});
    for (const auto& [suffix, q] : kPercentiles)
      all.push_back({std::string(duration.name) + suffix, "s",
                     fmt::format("{:g} % quantile of it", 100 * q)});
  }
  return all;
}

std::vector<double> time_quantiles(const std::vector<std::string>& responses) {
  std::vector<std::pair<std::string, double>> all;
  for (const Duration& each : kDurations)
    for (const auto& [suffix, q] : kPercentiles)
      all.emplace_back(each.name + std::string(suffix), q);
  return requested_quantiles(all, responses);
}

void leave_out(const std::string& name, const std::string& reason, Result& result) {
  result.responses.erase(name);
  result.repeats.erase(name);
  result.precision.erase(name);
  result.notes[name] = reason;
}

void add_time_percentiles(const std::vector<std::vector<Answered>>& measured,
                          const std::string& missing, Result& result) {
  for (const Duration& duration : kDurations) {
    const auto values = values_of(measured, duration);
    const bool none = std::ranges::all_of(values, &std::vector<double>::empty);
    if (none) leave_out(duration.name, missing, result);
    for (const auto& [suffix, q] : kPercentiles) {
      const std::string name = std::string(duration.name) + suffix;
      if (none)
        leave_out(name, missing, result);
      else
        add_percentile(name, q, values, {"requests", "raise run.max_time or the setting requests"},
                       result);
    }
  }
}

}  // namespace doetune::workloads
