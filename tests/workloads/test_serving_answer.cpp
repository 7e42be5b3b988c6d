// Answers of servers: tokens, usage, times and faults.
#include <catch2/catch.hpp>

#include "workloads/serving/answer.h"

using namespace doetune::workloads;
using Catch::Contains;

namespace {

std::string event(const std::string& data) { return "data: " + data + "\n\n"; }
std::string chunk(const std::string& content) {
  return event(R"({"choices":[{"delta":{"content":")" + content + R"("},"finish_reason":null}]})");
}
const std::string kRole = event(R"({"choices":[{"delta":{"role":"assistant","content":""}}]})");
const std::string kDone = event("[DONE]");

/// Reads the pieces at the times 1, 2, ... seconds.
Answer read(const std::vector<std::string>& pieces, const char* api = "openai-chat",
            long status = 200, bool strict = false) {
  Answer answer(api_named(api), strict);
  double now_s = 0;
  for (const std::string& piece : pieces)
    if (!answer.receive(status, piece, ++now_s)) break;
  return answer;
}

}  // namespace

TEST_CASE("tokens are counted by chunks with text, and timed", "[serving]") {
  Answer answer = read({kRole, chunk(" a"), chunk(" b"), chunk(""), chunk(" c"), kDone});
  CHECK(answer.finish(200) == Fault::none);
  CHECK(answer.output_tokens() == 3);
  CHECK(answer.first_token_s() == 2);
  CHECK(answer.last_token_s() == 5);
}

TEST_CASE("usage counts where a server gives it", "[serving]") {
  const auto tokens = [](const std::string& usage) {
    Answer answer = read({chunk(" a b"), event(R"({"choices":[],"usage":)" + usage + "}"), kDone});
    CHECK(answer.finish(200) == Fault::none);
    return answer.output_tokens();
  };
  CHECK(tokens(R"({"completion_tokens": 7})") == 7);
  for (const char* usage :
       {"null", "{}", "3", R"({"completion_tokens": -1})", R"({"completion_tokens": 1e300})",
        R"({"completion_tokens": "7"})", R"({"completion_tokens": 18446744073709551615})"}) {
    INFO(usage);
    CHECK(tokens(usage) == 1);
  }
}

TEST_CASE("text is found with spaces, in other keys and in other protocols", "[serving]") {
  const auto chunks = [](const std::string& data, const char* api = "openai-chat") {
    return read({event(data)}, api).output_tokens();
  };
  CHECK(chunks(R"({"choices": [{"delta": {"content" : "x"}}]})") == 1);
  CHECK(chunks(R"({"choices":[{"delta":{"reasoning_content":"x"}}]})") == 1);
  CHECK(chunks(R"({"choices":[{"delta":{"reasoning_content":null,"content":"x"}}]})") == 1);
  CHECK(chunks(R"({"choices":[{"delta":{"content":null}}]})") == 0);
  CHECK(chunks(R"({"choices":[{"delta":{"content":""}}]})") == 0);
  CHECK(chunks(R"({"choices":[{"delta":{"role":"content"}}]})") == 0);
  CHECK(chunks(R"({"choices":[{"delta":{"content":"\"content\":\"y"}}]})") == 1);
  CHECK(chunks(R"({"choices":[{"text":"x"}]})", "openai-completions") == 1);
  CHECK(chunks(R"({"text_output":"x"})", "triton-generate") == 1);
}

TEST_CASE("each fault of an answer is recognised", "[serving]") {
  const auto fault = [](const std::vector<std::string>& pieces, long status = 200,
                        const char* api = "openai-chat", bool strict = false) {
    return read(pieces, api, status, strict).finish(status);
  };
  CHECK(fault({}, 429) == Fault::refused);
  CHECK(fault({"busy"}, 503) == Fault::refused);
  CHECK(fault({"x"}, 500) == Fault::http_error);
  CHECK(fault({"x"}, 302) == Fault::http_error);
  CHECK(fault({}) == Fault::ended_early);
  CHECK(fault({chunk("a")}) == Fault::ended_early);
  CHECK(fault({R"({"choices":[{"message":{"content":"x"}}]})"}) == Fault::garbage);  // no stream
  CHECK(fault({chunk("a"), event("<html>"), kDone}) == Fault::garbage);
  CHECK(fault({chunk("a"), event(R"({"error":{"message":"x"}})"), kDone}) == Fault::http_error);
  CHECK(fault({chunk("a"), event(R"({"choices":[],"error":null})"), kDone}) == Fault::none);
  CHECK(fault({event(R"({"content":"x"})"), kDone}) == Fault::none);  // read loosely
  CHECK(fault({event(R"({"content":"x"})"), kDone}, 200, "openai-chat", true) == Fault::garbage);
  CHECK(fault({event(R"({"choices":)"), kDone}, 200, "openai-chat", true) == Fault::garbage);
  CHECK(fault({event(R"({"text_output":"x"})")}, 200, "triton-generate", true) == Fault::none);
  CHECK(fault({R"({"outputs":[]})"}, 200, "triton", true) == Fault::none);
  CHECK(fault({R"({"puts":[]})"}, 200, "triton", true) == Fault::garbage);
  CHECK(fault({"<html>"}, 200, "triton") == Fault::garbage);
  CHECK(fault({"anything"}, 200, "http") == Fault::none);
}

TEST_CASE("an answer without end is given up", "[serving]") {
  Answer answer(api_named("http"));
  const std::string piece(1 << 20, 'x');
  std::size_t bytes = 0;
  while (answer.receive(200, piece, 1) && bytes <= 2 * Answer::kMaxBytes) bytes += piece.size();
  CHECK(bytes <= Answer::kMaxBytes);
  CHECK(answer.finish(200) == Fault::garbage);
}

TEST_CASE("what a server says of an error is one short line of text", "[serving]") {
  const auto example = [](const std::string& text) {
    Answer answer = read({text}, "openai-chat", 500);
    answer.finish(500);
    return answer.example();
  };
  CHECK(example("out of\r\nmemory") == "HTTP 500: out of  memory");
  CHECK_THAT(example("\xFF\xFE\x80\x80\x80"), Contains("5 bytes that are not text"));
  CHECK(example(std::string(100'000, 'x')).size() < 300);
  CHECK_THAT(example("\x1B[31mred"), !Contains("\x1B"));
}

TEST_CASE("an answer after another starts anew", "[serving]") {
  Answer answer = read({chunk("a"), event("<html>")});
  answer.clear();
  CHECK(answer.receive(200, chunk("b"), 9));
  CHECK(answer.receive(200, kDone, 10));
  CHECK(answer.finish(200) == Fault::none);
  CHECK(answer.output_tokens() == 1);
  CHECK(answer.first_token_s() == 9);
}
