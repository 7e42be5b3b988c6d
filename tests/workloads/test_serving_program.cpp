// Black-box tests of the program serving-load against a server that computes nothing.
#include <catch2/catch.hpp>

#include <chrono>
#include <fstream>
#include <set>
#include <thread>

#include "tests/workloads/program.h"

namespace {

using namespace doetune;
using namespace doetune::workloads::test;
using Catch::Contains;

/// bench/serving/null_server.cpp, as a process.
class NullServer {
 public:
  NullServer(const ProgramDirectory& scratch, const Arguments& arguments)
      : process_(DOETUNE_NULL_SERVER, scratch, arguments, {}, "server") {
    for (int attempt = 0; attempt < 6000 && port_.empty(); ++attempt) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      std::ifstream out(scratch / "server.out");
      if (std::string line; std::getline(out, line) && !out.eof()) port_ = line;
    }
    REQUIRE_FALSE(port_.empty());
  }
  std::string url() const { return "http://127.0.0.1:" + port_; }
  const std::string& port() const { return port_; }

 private:
  Program process_;
  std::string port_;
};

const Arguments kShort{"--duration", "0.3", "--warmup", "0.1", "--requests", "20"};

/// A run against a server of its own.
struct Run {
  int code;
  Json result;  ///< null if it failed
  std::string messages;
};

Run run(const Arguments& server_options, const Arguments& arguments,
        const Variables& environment = {}) {
  const ProgramDirectory scratch;
  const NullServer server(scratch, server_options);
  Program program(DOETUNE_SERVING_LOAD, scratch,
                  with(with(kShort, {"--url", server.url()}), arguments), environment);
  const int code = program.exit_code();
  return {code, code == 0 ? Json::parse(scratch.read("out")) : Json(), scratch.read("err")};
}

double response(const Run& run, const char* name) {
  INFO(run.messages << run.result["notes"].dump());
  REQUIRE(run.result["responses"].contains(name));
  return run.result["responses"][name].get<double>();
}

}  // namespace

TEST_CASE("a closed loop measures rates and times of streamed answers", "[serving]") {
  const Run result = run({"--delay", "0.002"}, {"--concurrency", "4", "--output_tokens", "20"});
  REQUIRE(result.code == 0);
  CHECK(result.result["notes"]["model"] == "null");  // the first that the server lists
  const double rate = response(result, "requests_per_second");
  CHECK(response(result, "output_tokens_per_second") == Approx(20 * rate));
  CHECK(response(result, "error_share") == 0);
  // The server sends 20 tokens 2 ms apart, so none of these can be shorter.
  CHECK(response(result, "latency") > 0.040);
  CHECK(response(result, "latency_p50") > 0.040);
  CHECK(response(result, "inter_token_latency") > 0.0015);
  CHECK(response(result, "time_to_first_token") < response(result, "latency"));
  // Little's law: requests under way are the rate times the latency.
  CHECK(rate * response(result, "latency") == Approx(4).epsilon(0.3));
}

TEST_CASE("all protocols are spoken", "[serving]") {
  for (const Arguments& api : {Arguments{"openai-chat"},
                               {"openai-completions"},
                               {"triton-generate", "--model", "m"},
                               {"triton", "--model", "m"},
                               {"http"},
                               {"http", "--body", "{prompt}"}}) {
    const Run result = run({}, with({"--api"}, api));
    INFO(api.front() << ": " << result.messages);
    REQUIRE(result.code == 0);
    CHECK(response(result, "requests_per_second") > 0);
    const bool streams = api.front().starts_with("openai") || api.front() == "triton-generate";
    CHECK(result.result["responses"].contains("output_tokens_per_second") == streams);
  }
}

TEST_CASE("tokens are those that usage counts, else the chunks", "[serving]") {
  for (const Arguments& options : {Arguments{}, {"--fault", "no_usage"}}) {
    const Run result = run(options, {"--output_tokens", "8..12"});
    REQUIRE(result.code == 0);
    const double tokens =
        response(result, "output_tokens_per_second") / response(result, "requests_per_second");
    CHECK(tokens == Approx(10).epsilon(0.15));
  }
}

/// Whether an open loop keeps a rate: in one of three attempts, since a busy machine stops at
/// times.
bool keeps_rate(int rate, const Arguments& server, const Arguments& load) {
  for (int attempt = 0; attempt < 3; ++attempt) {
    const Run result = run(server, with({"--request_rate", std::to_string(rate)}, load));
    REQUIRE(result.code == 0);
    if (response(result, "requests_per_second") == Approx(rate).epsilon(0.25)) return true;
  }
  return false;
}

TEST_CASE("an open loop keeps its rate, whatever the server does", "[serving]") {
  CHECK(keeps_rate(200, {"--delay", "0.01"},
                   {"--output_tokens", "10", "--duration", "2", "--warmup", "0.5"}));
}

TEST_CASE("latencies count from the intended start: a stall is seen by all that it delays",
          "[serving]") {
  // The server rests for one second of three. Requests that arrive meanwhile wait half a second on
  // average; a load generator that waited for answers would see one slow request.
  const Run result = run({"--stall", "1", "--stall_every", "2"},
                         {"--request_rate", "300", "--output_tokens", "2", "--duration", "6.5",
                          "--warmup", "0", "--requests", "700"});
  REQUIRE(result.code == 0);
  CHECK(response(result, "latency_p99") > 0.8);
  CHECK(response(result, "latency_p90") > 0.3);
  CHECK(response(result, "latency_p50") < response(result, "latency_p99") / 2);
  CHECK(response(result, "time_to_first_token_p99") > 0.8);
}

TEST_CASE("more than max_in_flight unanswered requests are errors", "[serving]") {
  const Arguments slow{"--delay", "0.05"};
  const Arguments flood{"--request_rate", "500", "--max_in_flight", "4", "--output_tokens", "4"};
  const Run failed = run(slow, flood);
  CHECK(failed.code == 1);
  CHECK_THAT(failed.messages, Contains("max_errors") && Contains("max_in_flight requests were"));
  const Run allowed = run(slow, with(flood, {"--max_errors", "1"}));
  REQUIRE(allowed.code == 0);
  CHECK(response(allowed, "error_share") > 0.5);
}

TEST_CASE("each fault of a server is counted, and described in words", "[serving]") {
  const std::vector<std::pair<std::string, std::string>> faults{
      {"refuse", "refused with HTTP 429 or 503"},
      {"error", "HTTP 500: {\"error\":\"broken\"}"},
      {"event_error", "out of memory"},
      {"garbage", "does not follow the protocol"},
      {"no_json", "does not follow the protocol: <html>"},
      {"close", "closed before the end of the answer"},
      {"truncate", "closed before the end of the answer"},
      {"silent", "no complete answer within request_timeout"}};
  for (const auto& [fault, sentence] : faults) {
    INFO(fault);
    const auto with_fault = [&, fault = fault](const char* every, const Arguments& more) {
      return run({"--fault", fault, "--fault_every", every},
                 with({"--request_timeout", fault == "silent" ? "0.5" : "60", "--concurrency", "4"},
                      more));
    };
    const Run always = with_fault("1", {});
    CHECK(always.code == 1);
    CHECK_THAT(always.messages, Contains("does not answer a first request") && Contains(sentence));
    const Run often = with_fault("2", {"--requests", "8", "--duration", "0.1"});
    CHECK(often.code == 1);
    CHECK_THAT(often.messages, Contains("more than max_errors") && Contains(sentence));
    const Run allowed =
        with_fault("3", {"--max_errors", "0.9", "--requests", "8", "--duration", "0.1"});
    REQUIRE(allowed.code == 0);
    CHECK_THAT(allowed.messages, Contains(sentence));
    CHECK(response(allowed, "error_share") > 0.1);
    CHECK((response(allowed, "refused_share") > 0) == (fault == "refuse"));
  }
}

TEST_CASE("connections that the server closes are replaced, however many", "[serving]") {
  // Every second request meets a connection that dies, as with llama.cpp's server.
  const Run result = run({"--per_connection", "1"}, {"--concurrency", "2", "--requests", "100"});
  REQUIRE(result.code == 0);
  CHECK(response(result, "error_share") == 0);
}

TEST_CASE("a server that is not there, or goes away, ends the run", "[serving]") {
  const ProgramDirectory scratch;
  std::string url;
  {
    const NullServer server(scratch, {});
    url = server.url();
  }
  Program absent(DOETUNE_SERVING_LOAD, scratch, {"--url", url, "--model", "m"});
  CHECK(absent.exit_code() == 1);
  CHECK_THAT(scratch.read("err"), Contains("cannot be reached") && Contains(url));

  auto server = std::make_unique<NullServer>(scratch, Arguments{});
  Program left(DOETUNE_SERVING_LOAD, scratch,
               {"--url", server->url(), "--duration", "60", "--request_timeout", "2"});
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  server.reset();
  CHECK(left.exit_code() == 1);
  CHECK_THAT(scratch.read("err"), Contains("cannot be reached"));
}

TEST_CASE("requests come from a file, and goodput from limits", "[serving]") {
  const ProgramDirectory scratch;
  std::ofstream(scratch / "requests.jsonl") << R"({"prompt": "a", "max_tokens": 3})"
                                            << "\n"
                                            << R"({"prompt": "b", "max_tokens": 5})"
                                            << "\n";
  const Run result = run({}, {"--request_file", scratch / "requests.jsonl", "--limit_latency",
                              "0.000001", "--limit_inter_token_latency", "10"});
  REQUIRE(result.code == 0);
  const double rate = response(result, "requests_per_second");
  CHECK(response(result, "output_tokens_per_second") / rate == Approx(4).epsilon(0.1));
  CHECK(response(result, "goodput") == 0);
  const Run kept = run({}, {"--limit_latency", "60"});
  CHECK(response(kept, "goodput") == Approx(response(kept, "requests_per_second")));
}

TEST_CASE("several threads share the load", "[serving]") {
  const Run closed = run({"--delay", "0.02"}, {"--threads", "3", "--concurrency", "8"});
  REQUIRE(closed.code == 0);
  CHECK(response(closed, "requests_per_second") * response(closed, "latency") ==
        Approx(8).epsilon(0.3));
  CHECK(keeps_rate(300, {}, {"--threads", "2", "--duration", "1.5"}));
}

TEST_CASE("a run takes the server that doetune started, and the key from the environment",
          "[serving]") {
  const ProgramDirectory scratch;
  const NullServer server(scratch, {});
  const Json settings{{"duration", 0.2}, {"warmup", 0.1}, {"api_key_variable", "SERVING_KEY"}};
  const Json request{{"seed", 1},
                     {"factors", {{"concurrency", 2}}},
                     {"settings", settings},
                     {"repeats", 2},
                     {"server", {{"host", "127.0.0.1"}, {"port", std::stoi(server.port())}}}};
  const Json result =
      answer_to(DOETUNE_SERVING_LOAD, scratch, request, {{"SERVING_KEY", "top secret"}});
  CHECK(result["repeats"]["requests_per_second"].size() == 2);
  CHECK(result["notes"]["server"] == server.url() + "/v1/chat/completions");
  CHECK_THAT(scratch.read("result.json") + scratch.read("err"), !Contains("top secret"));
  Program by_variables(DOETUNE_SERVING_LOAD, scratch, kShort,
                       {{"DOETUNE_HOST", "127.0.0.1"}, {"DOETUNE_PORT", server.port()}});
  CHECK(by_variables.exit_code() == 0);
}

TEST_CASE("a wrong input of serving-load is named with what would be right", "[serving]") {
  const ProgramDirectory scratch;
  const auto refused = [&](const Arguments& arguments) {
    Program program(DOETUNE_SERVING_LOAD, scratch, arguments);
    CHECK(program.exit_code() == 2);
    return scratch.read("err");
  };
  CHECK_THAT(refused({}), Contains("no server is given"));
  CHECK_THAT(refused({"--url", "http://x", "--api", "openai-chats"}), Contains("'openai-chat'"));
  CHECK_THAT(refused({"--url", "http://x", "--api", "triton"}),
             Contains("needs the setting `model`"));
  CHECK_THAT(refused({"--url", "http://x", "--model", "m", "--body", "[1]"}),
             Contains("body must be a JSON object"));
  CHECK_THAT(refused({"--url", "http://x", "--model", "m", "--prompt_tokens", "many"}),
             Contains("prompt_tokens is 'many'"));
}
