#include "workloads/serving/serving_result.h"

#include <utility>

namespace doetune::workloads {
namespace {

double elapsed_s(const Answered& request) { return request.elapsed_s; }
double failed(const Answered& request) { return request.failed; }
double refused(const Answered& request) { return request.refused; }
double ended(const Answered& request) { return request.failed + 1; }

std::vector<Ratio<Answered>> ratios(const ServiceLimits& limits) {
  std::vector<Ratio<Answered>> all = answered_ratios();
  all.push_back({"error_share", failed, ended});
  all.push_back({"refused_share", refused, ended});
  if (limits.any())
    all.push_back({"goodput",
                   [&](const Answered& request) { return limits.kept_by(request) ? 1.0 : 0.0; },
                   elapsed_s});
  return all;
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
  for (Response& response : time_responses()) all.push_back(std::move(response));
  return all;
}

Result serving_result(const std::vector<LoadMeasurement>& measured, const ServiceLimits& limits,
                      int wanted) {
  Result result = ratio_result(measured, ratios(limits), wanted);
  const std::string missing = "the answers are not streams of tokens";
  std::vector<std::vector<Answered>> requests;
  for (const LoadMeasurement& one : measured) requests.push_back(one.values);
  add_time_percentiles(requests, missing, result);
  if (!limits.any()) result.notes["goodput"] = "needs a limit, such as limit_latency";
  if (result.responses["output_tokens_per_second"] == 0)
    leave_out("output_tokens_per_second", missing, result);
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
