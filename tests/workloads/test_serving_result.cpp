// Responses of serving-load from requests of known times.
#include <catch2/catch.hpp>

#include "workloads/serving/serving_result.h"

using namespace doetune;
using namespace doetune::workloads;
using Catch::Contains;

namespace {

/// A request each 0.1 s, of 11 tokens; latencies are 1, 2, ..., 10, 1, ... s; before every tenth,
/// one is refused and one fails otherwise.
LoadMeasurement measured(int requests) {
  LoadMeasurement result;
  for (int i = 0; i < requests; ++i)
    result.values.push_back({.elapsed_s = 0.1,
                             .latency_s = 1.0 + i % 10,
                             .first_token_s = 0.5,
                             .inter_token_s = 0.05 * (i % 2),
                             .output_tokens = 11,
                             .failed = i % 10 == 0 ? 2 : 0,
                             .refused = i % 10 == 0 ? 1 : 0});
  result.window = {0, 0.1 * requests};
  result.stopped_by = measurement::StoppedBy::kMinTime;
  return result;
}

}  // namespace

TEST_CASE("rates, times and fractions are those of the requests", "[serving]") {
  const Result result = serving_result({measured(1000)}, {.latency_s = 5}, 1);
  const auto& responses = result.responses;
  CHECK(responses.at("requests_per_second") == Approx(10));
  CHECK(responses.at("output_tokens_per_second") == Approx(110));
  CHECK(responses.at("goodput") == Approx(5));
  CHECK(responses.at("latency") == Approx(5.5));
  CHECK(responses.at("latency_p50") == Approx(5));
  CHECK(responses.at("latency_p90") == Approx(9));
  CHECK(responses.at("latency_p99") == Approx(10));
  CHECK(responses.at("time_to_first_token_p99") == Approx(0.5));
  CHECK(responses.at("inter_token_latency") == Approx(0.025));  // zeros are times, too
  CHECK(responses.at("error_share") == Approx(2.0 / 12));
  CHECK(responses.at("refused_share") == Approx(1.0 / 12));
  CHECK(error_share({measured(1000)}) == Approx(2.0 / 12));
  CHECK(result.precision.contains("latency_p99"));
  CHECK(result.precision.contains("requests_per_second"));
  CHECK(result.notes["requests"] == 1000);
  CHECK(result.series.at("latency").size() == 1000);
}

TEST_CASE("goodput counts requests that keep every limit", "[serving]") {
  const auto goodput = [](const ServiceLimits& limits) {
    return serving_result({measured(100)}, limits, 1).responses.at("goodput");
  };
  CHECK(goodput({.latency_s = 1}) == Approx(1));
  CHECK(goodput({.first_token_s = 0.5}) == Approx(10));
  CHECK(goodput({.first_token_s = 0.4}) == Approx(0));
  CHECK(goodput({.inter_token_s = 0.01}) == Approx(5));
  CHECK(goodput({.inter_token_s = 0.01, .latency_s = 1}) == Approx(1));
  CHECK_FALSE(ServiceLimits{.first_token_s = 1}.kept_by({.latency_s = 1}));  // no token came
}

TEST_CASE("what cannot be given is left out, with the reason", "[serving]") {
  LoadMeasurement plain = measured(50);
  for (Answered& request : plain.values) request.first_token_s = request.output_tokens = 0;
  const Result result = serving_result({plain}, {}, 1);
  for (const char* name : {"output_tokens_per_second", "time_to_first_token",
                           "time_to_first_token_p99", "inter_token_latency"}) {
    INFO(name);
    CHECK_FALSE(result.responses.contains(name));
    CHECK_THAT(result.notes[name].get<std::string>(), Contains("not streams of tokens"));
  }
  CHECK_THAT(result.notes["goodput"].get<std::string>(), Contains("needs a limit"));
  CHECK_THAT(result.notes["latency_p99"].get<std::string>(),
             Contains("needs 662 requests, but 50 were measured"));
  for (const Response& response : serving_responses())  // none is missing without a reason
    CHECK((result.responses.contains(response.name) || result.notes.contains(response.name)));
}

TEST_CASE("percentiles that are requested determine how many requests are measured", "[serving]") {
  CHECK(time_quantiles({"latency", "time_to_first_token_p99", "latency_p50"}) ==
        std::vector<double>{0.5, 0.99});
}

TEST_CASE("repeats are reported one by one", "[serving]") {
  LoadMeasurement slow = measured(1000);
  for (Answered& request : slow.values) request.elapsed_s = 0.2;
  const Result result = serving_result({measured(1000), slow}, {}, 3);
  CHECK(result.responses.at("requests_per_second") == Approx(7.5));
  CHECK(result.repeats.at("requests_per_second").size() == 2);
  CHECK(result.repeats.at("latency_p99").size() == 2);
  CHECK_THAT(result.notes["repeats"].get<std::string>(), Contains("2 of 3"));
}
