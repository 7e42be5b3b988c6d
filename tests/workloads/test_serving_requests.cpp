// What serving-load sends, and when.
#include <catch2/catch.hpp>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <numeric>

#include "tests/temporary_directory.h"
#include "workloads/arrivals.h"
#include "workloads/serving/api.h"
#include "workloads/serving/requests.h"
#include "workloads/serving/target.h"
#include "workloads/workloads.h"

using namespace doetune;
using namespace doetune::workloads;
using Catch::Contains;

namespace {

std::vector<double> drawn(const char* text, int count) {
  const Lengths lengths = Lengths::parse("prompt_tokens", text);
  RandomStream random(7, 0);
  std::vector<double> values;
  for (int i = 0; i < count; ++i) values.push_back(lengths.draw(random));
  return values;
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::vector<double> arrivals(double rate, std::uint64_t seed, int count) {
  PoissonArrivals process(rate, 100, seed, 0);
  std::vector<double> times;
  for (int i = 0; i < count; ++i) times.push_back(process.next());
  return times;
}

Request request_with(const Json& settings, const Json& more = Json::object()) {
  Json request{{"settings", settings}};
  request.update(more);
  return parse_request(serving_load_workload(), request);
}

}  // namespace

TEST_CASE("Poisson arrivals have exponential gaps of the mean wanted", "[serving]") {
  constexpr int kCount = 100'000;
  const auto times = arrivals(250, 1, kCount);
  CHECK(std::ranges::is_sorted(times));
  CHECK(times.front() > 100);
  std::vector<double> gaps{times.front() - 100}, squares;
  for (std::size_t i = 1; i < times.size(); ++i) gaps.push_back(times[i] - times[i - 1]);
  for (const double gap : gaps) squares.push_back(gap * gap);
  // Mean 1/rate with a standard error of 1/rate/sqrt(n); the mean square is twice its square.
  CHECK(mean(gaps) == Approx(1.0 / 250).epsilon(5 / std::sqrt(kCount)));
  CHECK(mean(squares) == Approx(2.0 / 250 / 250).epsilon(0.05));
  const auto longer = std::ranges::count_if(gaps, [](double gap) { return gap > 1.0 / 250; });
  CHECK(static_cast<double>(longer) / kCount == Approx(std::exp(-1)).epsilon(0.02));
}

TEST_CASE("arrivals depend on the seed alone", "[serving]") {
  CHECK(arrivals(10, 3, 50) == arrivals(10, 3, 50));
  CHECK(arrivals(10, 3, 50) != arrivals(10, 4, 50));
}

TEST_CASE("lengths follow the distribution that is written", "[serving]") {
  CHECK(drawn("256", 3) == std::vector<double>{256, 256, 256});
  const auto uniform = drawn("64..66", 3000);
  CHECK(std::ranges::min(uniform) == 64);
  CHECK(std::ranges::max(uniform) == 66);
  CHECK(mean(uniform) == Approx(65).epsilon(0.01));
  auto lognormal = drawn("lognormal:200:0.5", 20'000);
  CHECK(mean(lognormal) == Approx(200 * std::exp(0.5 * 0.5 / 2)).epsilon(0.02));
  std::ranges::nth_element(lognormal, lognormal.begin() + 10'000);
  CHECK(lognormal[10'000] == Approx(200).epsilon(0.02));
  CHECK(std::ranges::max(drawn("lognormal:200:2:300", 1000)) == 300);
  CHECK(std::ranges::min(drawn("lognormal:1:5", 1000)) == 1);
}

TEST_CASE("the longest length is the largest that can be drawn", "[serving]") {
  for (const auto& [text, longest] :
       {std::pair("256", 256), std::pair("64..66", 66), std::pair("lognormal:200:2", kMaxTokens),
        std::pair("lognormal:200:2:300", 300), std::pair("lognormal:200:0:300", 200)})
    CHECK(Lengths::parse("prompt_tokens", text).longest() == longest);
}

TEST_CASE("a wrong length is refused with what is right", "[serving]") {
  for (const char* text :
       {"", "0", "-1", "1.5", "5..4", "..", "1..", "lognormal", "lognormal:5", "lognormal:5:-1",
        "lognormal:5:1:0", "lognormal:5:1:2:3", "normal:5:1", "1000001", "256 tokens"}) {
    INFO(text);
    CHECK_THROWS_WITH(Lengths::parse("output_tokens", text),
                      Contains("output_tokens is '") && Contains("64..512"));
  }
}

TEST_CASE("a request depends on seed and number, and asks for the lengths drawn", "[serving]") {
  const Json base = request_template(api_named("openai-chat"), "m", nullptr, 1);
  const Lengths prompt = Lengths::parse("", "3..9"), output = Lengths::parse("", "10..20");
  const Requests requests(base.dump(), prompt, output, 5), same(base.dump(), prompt, output, 5),
      other(base.dump(), prompt, output, 6);
  std::string body, again;
  for (std::uint64_t n = 0; n < 50; ++n) {
    requests.write(n, body);
    same.write(n, again);
    CHECK(body == again);
    other.write(n, again);
    CHECK(body != again);
    const Json json = Json::parse(body);
    const auto content = json["messages"][0]["content"].get<std::string>();
    const auto words = 1 + std::ranges::count(content, ' ');
    CHECK((words >= 3 && words <= 9));
    CHECK((json["max_tokens"] >= 10 && json["max_tokens"] <= 20));
    CHECK(json["stream"] == true);
    CHECK(json["model"] == "m");
  }
}

TEST_CASE("Triton's requests have the inputs that the model describes", "[serving]") {
  const Json about = Json::parse(R"({"inputs": [
    {"name": "image", "datatype": "FP32", "shape": [-1, 3, 2]},
    {"name": "text", "datatype": "BYTES", "shape": [1]},
    {"name": "flag", "datatype": "BOOL", "shape": [-1]}]})");
  const Json inputs = request_template(api_named("triton"), "m", about, 1)["inputs"];
  REQUIRE(inputs.size() == 3);
  CHECK(inputs[0]["shape"] == Json({1, 3, 2}));
  CHECK(inputs[0]["data"].size() == 6);
  CHECK(inputs[0]["data"][0].is_number());
  CHECK(inputs[1]["data"] == Json{"{prompt}"});
  CHECK(inputs[2]["data"][0].is_boolean());
  const auto request_for = [](const char* text) {
    return request_template(api_named("triton"), "m", Json::parse(text), 1);
  };
  CHECK_THROWS_WITH(request_for("{}"), Contains("does not describe the inputs"));
  CHECK_THROWS_WITH(
      request_for(
          R"({"inputs":[{"name":"x","datatype":"FP32","shape":[100000,100000,9223372036854775807]}]})"),
      Contains("more than 1000000 elements"));
}

TEST_CASE("a file of requests is merged with what all requests have", "[serving]") {
  const tests::TemporaryDirectory directory;
  const auto file = directory / "requests.jsonl";
  std::ofstream(file) << R"({"prompt": "hello", "max_tokens": 5})"
                      << "\n\n"
                      << R"({"messages": [{"role": "system", "content": "x"}]})"
                      << "\r\n"
                      << R"({"custom_id": "7", "body": {"temperature": 0.5}})"
                      << "\n";
  const Json base = request_template(api_named("openai-chat"), "m", nullptr, 1);
  const auto bodies = read_requests(file, base, {{"stream_options", nullptr}, {"n", 1}});
  REQUIRE(bodies.size() == 3);
  const Json first = Json::parse(bodies[0]);
  CHECK(first["messages"][0]["content"] == "hello");
  CHECK(first["max_tokens"] == 5);
  CHECK_FALSE(first.contains("prompt"));
  CHECK_FALSE(first.contains("stream_options"));
  CHECK(first["n"] == 1);
  const Json second = Json::parse(bodies[1]);
  CHECK(second["messages"][0]["role"] == "system");
  CHECK_FALSE(second.contains("max_tokens"));  // the mark of generated requests
  CHECK(Json::parse(bodies[2])["temperature"] == 0.5);
  CHECK_FALSE(Json::parse(bodies[2]).contains("custom_id"));
  const Requests requests(bodies);
  std::string body;
  requests.write(4, body);
  CHECK(body == bodies[1]);
}

TEST_CASE("a wrong file of requests is named with its line", "[serving]") {
  const tests::TemporaryDirectory directory;
  const auto file = directory / "requests.jsonl";
  CHECK_THROWS_WITH(read_requests(file, nullptr, Json::object()), Contains("cannot read"));
  std::ofstream(file) << "{}\n[1]\n";
  CHECK_THROWS_WITH(read_requests(file, nullptr, Json::object()),
                    Contains("requests.jsonl:2: expected a JSON object"));
  std::ofstream(file) << "\n";
  CHECK_THROWS_WITH(read_requests(file, nullptr, Json::object()), Contains("found none"));
}

TEST_CASE("the server is that of url, of host and port, of the request, of the environment",
          "[serving]") {
  const Json server{{"server", {{"host", "10.0.0.1"}, {"port", 9000}}}};
  const auto address = [](const Json& settings, const Json& more = Json::object()) {
    return server_address(request_with(settings, more));
  };
  unsetenv("DOETUNE_HOST");
  CHECK_THROWS_WITH(address(Json::object()), Contains("no server is given"));
  setenv("DOETUNE_HOST", "127.0.0.1", 1);
  setenv("DOETUNE_PORT", "8123", 1);
  CHECK(address(Json::object()) == "http://127.0.0.1:8123");
  CHECK(address(Json::object(), server) == "http://10.0.0.1:9000");
  CHECK(address({{"host", "::1"}, {"port", 80}}, server) == "http://[::1]:80");
  CHECK(address({{"url", "https://example.org/"}, {"host", "x"}}) == "https://example.org");
  CHECK_THROWS_WITH(address({{"host", "x"}}), Contains("belong together"));
  CHECK_THROWS_WITH(address({{"url", "example.org"}}), Contains("http://"));
  unsetenv("DOETUNE_HOST");
  unsetenv("DOETUNE_PORT");
}

TEST_CASE("the key comes from the variable that is named", "[serving]") {
  const Request request = request_with({{"api_key_variable", "SERVING_TEST_KEY"}});
  unsetenv("SERVING_TEST_KEY");
  CHECK_THROWS_WITH(target_of(request.inputs, "http://x"),
                    Contains("'SERVING_TEST_KEY', which is not set"));
  setenv("SERVING_TEST_KEY", "secret", 1);
  CHECK(target_of(request.inputs, "http://x").headers.back() == "Authorization: Bearer secret");
  setenv("SERVING_TEST_KEY", "two\r\nlines", 1);
  CHECK_THROWS_WITH(target_of(request.inputs, "http://x"), !Contains("lines\r"));
  unsetenv("SERVING_TEST_KEY");
}
