#include "workloads/serving/serving_result.h"

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

double one(const Answered&) { return 1; }
double elapsed_s(const Answered& request) { return request.elapsed_s; }
double output_tokens(const Answered& request) { return request.output_tokens; }
double failed(const Answered& request) { return request.failed; }
double refused(const Answered& request) { return request.refused; }
double ended(const Answered& request) { return request.failed + 1; }

std::vector<Ratio<Answered>> ratios(const ServiceLimits& limits) {
  std::vector<Ratio<Answered>> all{{"requests_per_second", one, elapsed_s},
                                   {"output_tokens_per_second", output_tokens, elapsed_s},
                                   {"error_share", failed, ended},
                                   {"refused_share", refused, ended}};
  if (limits.any())
    all.push_back({"goodput",
                   [&](const Answered& request) { return limits.kept_by(request) ? 1.0 : 0.0; },
                   elapsed_s});
  for (const Duration& each : kDurations)
    all.push_back({each.name, each.quantity,
                   [&each](const Answered& request) { return each.has(request) ? 1.0 : 0.0; }});
  return all;
}

/// The values of each measurement.
std::vector<std::vector<double>> values_of(const std::vector<LoadMeasurement>& measured,
                                           const Duration& duration) {
  std::vector<std::vector<double>> values(measured.size());
  for (std::size_t i = 0; i < measured.size(); ++i)
    for (const Answered& request : measured[i].values)
      if (duration.has(request)) values[i].push_back(request.*duration.quantity);
  return values;
}

void leave_out(const std::string& name, Result& result) {
  result.responses.erase(name);
  result.repeats.erase(name);
  result.precision.erase(name);
  result.notes[name] = "the answers are not streams of tokens";
}

void add_percentiles(const std::vector<LoadMeasurement>& measured, Result& result) {
  for (const Duration& duration : kDurations) {
    const auto values = values_of(measured, duration);
    const bool missing = std::ranges::all_of(values, &std::vector<double>::empty);
    if (missing) leave_out(duration.name, result);
    for (const auto& [suffix, q] : kPercentiles) {
      const std::string name = std::string(duration.name) + suffix;
      if (missing)
        leave_out(name, result);
      else
        add_percentile(name, q, values, {"requests", "raise run.max_time or the setting requests"},
                       result);
    }
  }
}

}  // namespace

bool ServiceLimits::kept_by(const Answered& request) const {
  const auto keeps = [](double value, const std::optional<double>& limit) {
    return !limit || value <= *limit;
  };
  return keeps(request.latency_s, latency_s) && keeps(request.inter_token_s, inter_token_s) &&
         (!first_token_s || (request.first_token_s > 0 && request.first_token_s <= *first_token_s));
}

std::vector<Response> serving_responses() {
  std::vector<Response> all{
      {"requests_per_second", "requests/s", "requests answered"},
      {"output_tokens_per_second", "tokens/s", "tokens of the answers to these requests"},
      {"goodput", "requests/s", "requests answered within the limits; only with a limit"},
      {"error_share", "1", "fraction of the requests that failed"},
      {"refused_share", "1", "fraction that the server refused (HTTP 429 or 503)"}};
  for (const Duration& duration : kDurations) {
    all.push_back({duration.name, "s", std::string("mean ") + duration.description});
    for (const auto& [suffix, q] : kPercentiles)
      all.push_back({std::string(duration.name) + suffix, "s",
                     fmt::format("{:g} % quantile of it", 100 * q)});
  }
  return all;
}

std::vector<double> serving_quantiles(const std::vector<std::string>& responses) {
  std::vector<std::pair<std::string, double>> all;
  for (const Duration& each : kDurations)
    for (const auto& [suffix, q] : kPercentiles)
      all.emplace_back(each.name + std::string(suffix), q);
  return requested_quantiles(all, responses);
}

Result serving_result(const std::vector<LoadMeasurement>& measured, const ServiceLimits& limits,
                      int wanted) {
  Result result = ratio_result(measured, ratios(limits), wanted);
  add_percentiles(measured, result);
  if (!limits.any()) result.notes["goodput"] = "needs a limit, such as limit_latency";
  if (result.responses["output_tokens_per_second"] == 0)
    leave_out("output_tokens_per_second", result);
  const std::vector<Answered> all = joined(measured);
  add_series("latency", each<Answered>(all, &Answered::latency_s), "requests", result);
  result.notes["requests"] = all.size();
  return result;
}

double error_share(const std::vector<LoadMeasurement>& measured) {
  const std::vector<Answered> all = joined(measured);
  return sum(each<Answered>(all, failed)) / sum(each<Answered>(all, ended));
}

}  // namespace doetune::workloads
