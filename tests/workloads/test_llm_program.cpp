// Black-box tests of the program llm-inference.
#include <catch2/catch.hpp>

#include "tests/workloads/program.h"

namespace {

using namespace doetune::workloads::test;
using Catch::Contains;

/// A model of 100,000 parameters.
const Arguments kSmall{"--layers",    "2",   "--width",         "64",     "--heads",         "4",
                       "--kv_heads",  "2",   "--ffn_width",     "128",    "--vocabulary",    "500",
                       "--positions", "128", "--prompt_tokens", "10..40", "--output_tokens", "20",
                       "--warmup",    "0",   "--duration",      "0.1",    "--roofline",      "off",
                       "--threads",   "2"};

Json answer(const ProgramDirectory& scratch, const Arguments& arguments) {
  Program program(DOETUNE_LLM_INFERENCE, scratch, with(kSmall, arguments));
  REQUIRE(program.exit_code() == 0);
  return Json::parse(scratch.read("out"));
}

/// Runs the program, checks that it fails with the code, and returns its messages.
std::string failure(const ProgramDirectory& scratch, const Arguments& arguments, int code) {
  Program program(DOETUNE_LLM_INFERENCE, scratch, arguments);
  CHECK(program.exit_code() == code);
  return scratch.read("err");
}

}  // namespace

TEST_CASE("every response of a model is given or explained", "[program]") {
  const ProgramDirectory scratch;
  const Json result = answer(scratch, {});
  const Json& responses = result["responses"];
  CHECK(responses["output_tokens_per_second"].get<double>() ==
        Approx(20 * responses["requests_per_second"].get<double>()));
  CHECK(responses["tokens_per_second"] > responses["output_tokens_per_second"]);
  CHECK(responses["time_to_first_token"] < responses["latency"]);
  CHECK(responses["decode_bandwidth"] > 0);
  CHECK(result["notes"]["roofline_fraction"] == "roofline is off");
  // 8 sequences of at most 59 cached tokens, in blocks of 16, of 2 x 2 x 2 x 16 floats a token.
  CHECK(responses["cache_memory"].get<double>() * 1024 * 1024 * 1024 ==
        Approx(8 * 64 * 2 * 2 * 2 * 16 * 4));
  CHECK(result["notes"]["parameters"] == 106'048);
}

TEST_CASE("answers do not depend on how they are computed", "[program]") {
  const ProgramDirectory scratch;
  const std::string folder = scratch / "there";
  answer(scratch, {"--dump", folder});
  const std::string answers = scratch.read("there/answers.json");
  CHECK(Json::parse(answers).size() == 4);
  CHECK(std::filesystem::file_size(scratch / "there/weights.f32") == 4 * 106'048);
  for (const Arguments& other : std::vector<Arguments>{
           {"--batch_size", "2", "--prefill_chunk", "5"},
           {"--block_size", "64", "--executors_per_gpu", "2"},
           {"--batch_size", "40", "--cache_memory_limit", "0.1", "--request_rate", "1000"}}) {
    answer(scratch, with({"--dump", folder}, other));
    CHECK(scratch.read("there/answers.json") == answers);
  }
}

TEST_CASE("a length may be a numeric factor", "[program]") {
  const ProgramDirectory scratch;
  Json settings;
  for (std::size_t i = 0; i < kSmall.size(); i += 2) settings[kSmall[i].substr(2)] = kSmall[i + 1];
  const Json result = answer_to(DOETUNE_LLM_INFERENCE, scratch,
                                {{"factors", {{"prompt_tokens", 30}}}, {"settings", settings}});
  const Json& responses = result["responses"];
  CHECK(responses["tokens_per_second"].get<double>() ==
        Approx(50 * responses["requests_per_second"].get<double>()));
}

TEST_CASE("a model that cannot run here ends with code 77 and the reason", "[program]") {
  const ProgramDirectory scratch;
  CHECK_THAT(failure(scratch, with(kSmall, {"--output_tokens", "89"}), 77),
             Contains("exceed the model's 128 positions"));
  CHECK_THAT(failure(scratch, with(kSmall, {"--prompt_tokens", "lognormal:20:1"}), 77),
             Contains("prompt of up to 1000000 tokens"));
  // 512 bytes a token: one block of 16 tokens fits into 0.01 MiB.
  CHECK_THAT(failure(scratch, with(kSmall, {"--cache_memory_limit", "0.01"}), 77),
             Contains("holds 16 tokens; the longest sequence has 59"));
  CHECK_THAT(failure(scratch, with(kSmall, {"--vocabulary", "1000000", "--width", "65536"}), 77),
             Contains("not enough memory for the weights and the caches"));
}

TEST_CASE("a model without a GPU to run on ends with code 77 and the reason", "[program]") {
  const ProgramDirectory scratch;
  setenv("CUDA_VISIBLE_DEVICES", "", 1);
  const std::string why = failure(scratch, with(kSmall, {"--device", "cuda"}), 77);
  unsetenv("CUDA_VISIBLE_DEVICES");
  CHECK_THAT(why, Contains("GPU") || Contains("CUDA engine"));
}

TEST_CASE("numbers that do not fit each other are invalid inputs", "[program]") {
  const ProgramDirectory scratch;
  CHECK_THAT(failure(scratch, with(kSmall, {"--kv_heads", "3"}), 2),
             Contains("heads = 4 must be a multiple of kv_heads = 3"));
  CHECK_THAT(failure(scratch, with(kSmall, {"--block_size", "24"}), 2), Contains("block_size"));
  CHECK_THAT(failure(scratch, with(kSmall, {"--output_tokens", "many"}), 2),
             Contains("output_tokens is 'many'"));
}
