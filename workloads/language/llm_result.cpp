#include "workloads/language/llm_result.h"

namespace doetune::workloads {
namespace {

constexpr double kGiga = 1e9;
constexpr double kGiB = 1024.0 * 1024 * 1024;
constexpr const char* kAllTokens = "tokens_per_second";
constexpr const char* kBandwidth = "decode_bandwidth";
constexpr const char* kRoofline = "roofline_fraction";

double decode_s(const Generated& request) { return request.steps.decode_s; }
double busy_s(const Generated& request) { return request.steps.busy_s; }
double roofline_s(const Generated& request) { return request.steps.roofline_s; }

std::vector<Ratio<Generated>> ratios(bool has_roofline) {
  std::vector<Ratio<Generated>> all;
  for (Ratio<Answered>& ratio : answered_ratios())
    all.push_back({ratio.name, ratio.above, ratio.below});
  all.push_back({kAllTokens,
                 [](const Generated& one) { return one.prompt_tokens + one.output_tokens; },
                 [](const Generated& one) { return one.elapsed_s; }});
  all.push_back(
      {kBandwidth, [](const Generated& one) { return one.steps.decode_bytes / kGiga; }, decode_s});
  if (has_roofline) all.push_back({kRoofline, roofline_s, busy_s});
  return all;
}

}  // namespace

std::vector<Response> llm_responses() {
  std::vector<Response> all{
      {"output_tokens_per_second", "tokens/s", "tokens of answers"},
      {kAllTokens, "tokens/s", "tokens of prompts and answers"},
      {"requests_per_second", "requests/s", "requests answered"},
      {kBandwidth, "GB/s",
       "weights and cached keys and values that are read, in steps without tokens of prompts"},
      {kRoofline, "1", "time of the steps at the device's peak rates over the measured time"},
      {"weight_memory", "GiB", "memory of the weights"},
      {"cache_memory", "GiB", "memory of the caches of keys and values"}};
  for (Response& response : time_responses()) all.push_back(std::move(response));
  return all;
}

Result llm_result(const std::vector<GenerationMeasurement>& measured, const LlmMemory& memory,
                  bool has_roofline, int wanted) {
  Result result = ratio_result(measured, ratios(has_roofline), wanted);
  std::vector<std::vector<Answered>> requests;
  for (const GenerationMeasurement& one : measured)
    requests.emplace_back(one.values.begin(), one.values.end());
  add_time_percentiles(requests, "every answer has one token", result);
  const std::vector<Generated> all = joined(measured);
  if (sum(each<Generated>(all, decode_s)) == 0)
    leave_out(kBandwidth, "every step read tokens of a prompt", result);
  result.responses["weight_memory"] = static_cast<double>(memory.weights) / kGiB;
  result.responses["cache_memory"] = static_cast<double>(memory.cache) / kGiB;
  add_series("latency", each<Generated>(all, [](const Generated& one) { return one.latency_s; }),
             "requests", result);
  result.notes["requests"] = all.size();
  return result;
}

}  // namespace doetune::workloads
