// Black-box tests of the program input-pipeline.
#include <catch2/catch.hpp>

#include "tests/workloads/program.h"

namespace {

using namespace doetune;
using namespace doetune::workloads::test;
using Catch::Contains;

const Arguments kSmall{"--images", "10",         "--image_size", "64",       "--batch_size",
                       "4",        "--duration", "0.1",          "--warmup", "0.05",
                       "--device", "cpu",        "--threads",    "1"};

Program program(const ProgramDirectory& scratch, const Arguments& arguments) {
  return {DOETUNE_INPUT_PIPELINE, scratch, with(kSmall, arguments)};
}

}  // namespace

TEST_CASE("a pipeline answers with rates and fractions of its time", "[pipeline]") {
  const ProgramDirectory scratch;
  for (const Arguments& each : {Arguments{"--readers", "2"},
                                {"--format", "loose"},
                                {"--step", "none"},
                                {"--readers", "0", "--augment_in", "step"},
                                {"--memory", "resident"}}) {
    INFO(each.front() << ' ' << each[1]);
    REQUIRE(program(scratch, each).exit_code() == 0);
    const Json result = Json::parse(scratch.read("out"));
    const auto response = [&](const char* name) { return result["responses"][name].get<double>(); };
    CHECK(response("images_per_second") > 0);
    CHECK(response("idle_share") >= 0);
    CHECK(response("idle_share") <= 1);
    CHECK(response("read_share") + response("decode_share") + response("augment_share") +
              response("copy_share") ==
          Approx(1));
    CHECK(response("readers_busy") >= 0);
    CHECK(response("readers_busy") <= 1.1);  // includes work begun before the measurement
    // Images per second are the batch over (step + waiting).
    CHECK(response("images_per_second") * response("step_time") / (1 - response("idle_share")) ==
          Approx(4).epsilon(1e-6));
    CHECK(result["notes"]["steps"] >= 8);
  }
}

TEST_CASE("a pipeline without a step is idle, held up by decoding", "[pipeline]") {
  const ProgramDirectory scratch;
  REQUIRE(program(scratch, {"--step", "none", "--image_size", "512"}).exit_code() == 0);
  const Json result = Json::parse(scratch.read("out"));
  CHECK(result["responses"]["idle_share"] > 0.5);
  CHECK(result["notes"]["bottleneck"] == "decode");
}

TEST_CASE("a pipeline measures until it is as precise as wanted, and as often as asked",
          "[pipeline]") {
  const ProgramDirectory scratch;
  std::ofstream(scratch.path / "request.json") << Json{{"seed", 1},
                                                       {"factors", {{"readers", 1}}},
                                                       {"settings",
                                                        {{"images", 10},
                                                         {"image_size", 64},
                                                         {"batch_size", 4},
                                                         {"device", "cpu"},
                                                         {"threads", 1},
                                                         {"duration", 0.1},
                                                         {"warmup", 0}}},
                                                       {"repeats", 2},
                                                       {"max_time_s", 0.5},
                                                       {"precision", 0.5}};
  Program program(DOETUNE_INPUT_PIPELINE, scratch, {}, by_files(scratch));
  REQUIRE(program.exit_code() == 0);
  const Json result = Json::parse(scratch.read("result.json"));
  CHECK(result["repeats"]["images_per_second"].size() == 2);
  CHECK(result.contains("stopped_by"));
  CHECK(result["window"][1] > result["window"][0]);
}

TEST_CASE("a pipeline refuses what it cannot do", "[pipeline]") {
  const ProgramDirectory scratch;
  CHECK(program(scratch, {"--memory", "unified"}).exit_code() == 2);
  CHECK_THAT(scratch.read("err"), Contains("pageable, pinned, resident"));
  CHECK(program(scratch, {"--memory", "pinned"}).exit_code() == 77);
  CHECK_THAT(scratch.read("err"), Contains("GPU"));
  CHECK(program(scratch, {"--precision", "fp16"}).exit_code() == 77);
#ifndef DOETUNE_SANITIZED  // sanitizers need memory too
  Program large(DOETUNE_INPUT_PIPELINE, scratch, with(kSmall, {"--batch_size", "4096"}), {}, "",
                rlim_t{400} << 20);
  CHECK(large.exit_code() == 77);
  CHECK_THAT(scratch.read("err"), Contains("memory"));
#endif
}

TEST_CASE("a pipeline refuses what it would have to keep in memory before it makes images",
          "[pipeline]") {
  const ProgramDirectory scratch;
  CHECK(
      program(scratch, {"--prefetch_depth", "1024", "--batch_size", "4096", "--input_size", "224"})
          .exit_code() == 77);
  CHECK_THAT(scratch.read("err"), Contains("1025 batches of 4096 images: 2527907020800 bytes"));
  CHECK_FALSE(std::filesystem::exists(scratch.path / "doetune"));
}

TEST_CASE("loose files without a directory for them are a wrong input", "[pipeline]") {
  const ProgramDirectory scratch;
  const auto refused = [&](const Variables& environment) {
    Program program(DOETUNE_INPUT_PIPELINE, scratch, with(kSmall, {"--format", "loose"}),
                    environment);
    CHECK(program.exit_code() == 2);
    CHECK_THAT(scratch.read("err"), Contains("format = loose") && Contains("XDG_CACHE_HOME"));
  };
  refused({{"XDG_CACHE_HOME", ""}, {"HOME", ""}});
  refused({{"XDG_CACHE_HOME", scratch.path / "err"}});  // not a directory
  Program records(DOETUNE_INPUT_PIPELINE, scratch, kSmall, {{"XDG_CACHE_HOME", ""}, {"HOME", ""}});
  CHECK(records.exit_code() == 0);
}

TEST_CASE("images that vanish end a pipeline with their name", "[pipeline]") {
  const ProgramDirectory scratch;
  REQUIRE(program(scratch, {"--format", "loose"}).exit_code() == 0);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(scratch.path))
    if (entry.path().extension() == ".jpg") std::filesystem::remove(entry.path());
  CHECK(program(scratch, {"--format", "loose"}).exit_code() == 1);
  CHECK_THAT(scratch.read("err"), Contains(".jpg"));
}
