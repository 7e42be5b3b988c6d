// Black-box tests of the programs gemm, copy and network-inference.
#include <catch2/catch.hpp>

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/workloads/program.h"

namespace {

using namespace doetune;
using namespace doetune::workloads::test;
namespace fs = std::filesystem;

const Variables kNoGpu{{"CUDA_VISIBLE_DEVICES", ""}};

/// Returns the exit code; output and messages are in the files `out` and `err`.
int run(const ProgramDirectory& scratch, const char* program, const Arguments& arguments) {
  return Program(program, scratch, arguments, kNoGpu).exit_code();
}

Json answer(const ProgramDirectory& scratch, const char* program, const Json& request) {
  return answer_to(program, scratch, request, kNoGpu);
}

const Json kQuick{{"warmup", 0}, {"duration", 0.05}, {"threads", 1}, {"roofline", "off"}};

Json joined(Json settings, const Json& more) {
  settings.update(more);
  return settings;
}

const Json kProduct = joined(kQuick, {{"m", 48}, {"n", 32}, {"k", 64}});
const Json kArrays = joined(kQuick, {{"size", 0.25}});
const Json kNetwork =
    joined(kQuick, {{"model", "tiny-yolov2"}, {"input_size", 32}, {"batch_size", 2}});

}  // namespace

TEST_CASE("the rate of a product is its operations over its time", "[program]") {
  const ProgramDirectory scratch;
  const Json result =
      answer(scratch, DOETUNE_GEMM, {{"factors", {{"k", 80}}}, {"settings", kProduct}});
  const double time = result["responses"]["time"];
  CHECK(result["responses"]["rate"].get<double>() == Approx(2.0 * 48 * 32 * 80 / time / 1e12));
  CHECK(result["responses"]["intensity"].get<double>() ==
        Approx(2.0 * 48 * 32 * 80 / 4 / (48 * 80 + 80 * 32 + 48 * 32)));
  CHECK(result["notes"]["roofline_fraction"] == "roofline is off");
  CHECK(result["stopped_by"] == "minimum time reached");
}

TEST_CASE("m, n and k are the size where they are not given", "[program]") {
  const ProgramDirectory scratch;
  const Json settings = joined(kQuick, {{"size", 24}, {"n", 48}});
  const Json result = answer(scratch, DOETUNE_GEMM, {{"settings", settings}});
  const double time = result["responses"]["time"];
  CHECK(result["responses"]["rate"].get<double>() == Approx(2.0 * 24 * 48 * 24 / time / 1e12));
}

TEST_CASE("bandwidth is bytes over time, as STREAM counts", "[program]") {
  const ProgramDirectory scratch;
  for (const auto& [kind, arrays] : {std::pair("copy", 2), std::pair("triad", 3)}) {
    const Json result =
        answer(scratch, DOETUNE_COPY, {{"factors", {{"kind", kind}}}, {"settings", kArrays}});
    const double time = result["responses"]["time"];
    CHECK(result["responses"]["bandwidth"].get<double>() ==
          Approx(arrays * 0.25 * 1048576 / time / 1e9));
  }
}

TEST_CASE("throughput of a network is its batch over the latency", "[program]") {
  const ProgramDirectory scratch;
  const Json result = answer(scratch, DOETUNE_NETWORK_INFERENCE, {{"settings", kNetwork}});
  const double latency = result["responses"]["latency"];
  CHECK(result["responses"]["throughput"].get<double>() == Approx(2 / latency));
  CHECK((result["responses"].contains("latency_p99") || result["notes"].contains("latency_p99")));
}

TEST_CASE("fractions are of the peak rates in the notes, which are measured once", "[program]") {
  const ProgramDirectory scratch;
  const Json on = joined(kProduct, {{"roofline", "cached"}});
  const Json first = answer(scratch, DOETUNE_GEMM, {{"settings", on}});
  const Json second = answer(scratch, DOETUNE_GEMM, {{"settings", on}});
  CHECK(first["notes"]["ceiling_tflop_per_s"] == second["notes"]["ceiling_tflop_per_s"]);
  const double attainable = std::min(second["notes"]["ceiling_tflop_per_s"].get<double>(),
                                     second["notes"]["ceiling_gb_per_s"].get<double>() * 1e-3 *
                                         second["responses"]["intensity"].get<double>());
  CHECK(second["responses"]["roofline_fraction"].get<double>() ==
        Approx(second["responses"]["rate"].get<double>() / attainable));
}

TEST_CASE("repeats and a wanted precision are obeyed", "[program]") {
  const ProgramDirectory scratch;
  const Json result =
      answer(scratch, DOETUNE_GEMM,
             {{"settings", kProduct}, {"repeats", 3}, {"precision", 0.9}, {"max_time_s", 5}});
  CHECK(result["repeats"]["rate"].size() == 3);
  CHECK(result["window"][0] < result["window"][1]);
}

TEST_CASE("the network, its weights and a batch are written where asked", "[program]") {
  const ProgramDirectory scratch;
  answer(scratch, DOETUNE_NETWORK_INFERENCE,
         {{"settings", joined(kNetwork, {{"dump", (scratch / "there").string()}})}});
  const Json network = Json::parse(scratch.read("there/network.json"));
  CHECK(network["name"] == "tiny-yolov2");
  CHECK(fs::file_size(scratch / "there/input.f32") == 2 * 3 * 32 * 32 * 4);
  CHECK(fs::file_size(scratch / "there/output.f32") == 2 * 125 * 4);
  // The trainable parameters, less a scale for each of the 3,056 batch-normalised filters, which is
  // folded in.
  CHECK(fs::file_size(scratch / "there/weights.f32") ==
        4 * (network["parameters"].get<std::uintmax_t>() - 3056));
}

TEST_CASE("every response is described, and given or explained", "[program]") {
  const ProgramDirectory scratch;
  for (const auto& [program, settings] :
       {std::pair(DOETUNE_GEMM, kProduct), std::pair(DOETUNE_COPY, kArrays),
        std::pair(DOETUNE_NETWORK_INFERENCE, kNetwork)}) {
    REQUIRE(run(scratch, program, {"--describe"}) == 0);
    const Json described = Json::parse(scratch.read("out"));
    const Json result = answer(scratch, program, {{"settings", settings}});
    for (const Json& response : described["responses"]) {
      const auto name = response["name"].get<std::string>();
      CHECK((result["responses"].contains(name) || result["notes"].contains(name)));
    }
  }
}

TEST_CASE("wrong inputs end with code 2 and say what was expected", "[program]") {
  const ProgramDirectory scratch;
  CHECK(run(scratch, DOETUNE_GEMM, {"--m", "0"}) == 2);
  CHECK_THAT(scratch.read("err"), Catch::Contains("1 to 65536"));
  CHECK(run(scratch, DOETUNE_GEMM, {"--prezision", "bf16"}) == 2);
  CHECK_THAT(scratch.read("err"), Catch::Contains("precision"));
  CHECK(run(scratch, DOETUNE_COPY, {"--kind", "tread"}) == 2);
  CHECK_THAT(scratch.read("err"), Catch::Contains("did you mean 'triad'"));
  CHECK(run(scratch, DOETUNE_NETWORK_INFERENCE, {"--model", "alexnet", "--input_size", "100"}) ==
        2);
  CHECK_THAT(scratch.read("err"), Catch::Contains("224"));
  CHECK(run(scratch, DOETUNE_NETWORK_INFERENCE, {"--batch_size", "0"}) == 2);
}

TEST_CASE("a device or precision that is not there ends with code 77", "[program]") {
  const ProgramDirectory scratch;
  for (const char* program : {DOETUNE_GEMM, DOETUNE_COPY, DOETUNE_NETWORK_INFERENCE}) {
    CHECK(run(scratch, program, {"--device", "cuda"}) == 77);
    CHECK_THAT(scratch.read("err"), Catch::Contains("CUDA") || Catch::Contains("GPU"));
  }
  CHECK(run(scratch, DOETUNE_GEMM, {"--device", "cpu", "--precision", "fp16"}) == 77);
  CHECK(run(scratch, DOETUNE_COPY, {"--device", "cpu", "--kind", "host-to-device"}) == 77);
  // Three matrices of at least 16 GiB: more memory than the build machines have.
  if (sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE) < 40'000'000'000)
    CHECK(run(scratch, DOETUNE_GEMM, {"--device", "cpu", "--roofline", "off", "--size", "65536"}) ==
          77);
}

TEST_CASE("an answer that cannot be written ends with code 1", "[program]") {
  const ProgramDirectory scratch;
  fs::create_symlink("/dev/full", scratch / "out");
  CHECK(run(scratch, DOETUNE_GEMM,
            {"--size", "8", "--duration", "0", "--warmup", "0", "--roofline", "off"}) == 1);
}

TEST_CASE("weights that are cut off, and a directory that cannot be written, end with code 1",
          "[program]") {
  const ProgramDirectory scratch;
  std::ofstream(scratch / "short.weights") << "0123456789";
  const Arguments small{"--input_size", "32", "--roofline", "off",
                        "--duration",   "0",  "--warmup",   "0"};
  CHECK(run(scratch, DOETUNE_NETWORK_INFERENCE,
            with(small, {"--weights", scratch / "short.weights"})) == 1);
  CHECK_THAT(scratch.read("err"), Catch::Contains("truncated"));
  CHECK(run(scratch, DOETUNE_NETWORK_INFERENCE, with(small, {"--dump", "/dev/null/there"})) == 1);
}

TEST_CASE("the example's script runs doetune's engine, and reports a framework that is missing",
          "[program]") {
  const ProgramDirectory scratch;
  std::ofstream(scratch / "doetune")
      << "#!/bin/sh\nshift 2\nexec '" DOETUNE_NETWORK_INFERENCE "' \"$@\"\n";
  fs::permissions(scratch / "doetune", fs::perms::owner_all);
  // -I -S: without the interpreter's installed packages.
  const auto infer = [&](const Arguments& arguments) {
    const Arguments script{"-I", "-S", DOETUNE_INFER_SCRIPT, "--doetune", scratch / "doetune"};
    return run(scratch, DOETUNE_PYTHON, with(script, arguments));
  };
  const Arguments small{"--network", "tiny-yolov2", "--input_size", "32",  "--batch_size", "2",
                        "--warmup",  "0",           "--duration",   "0.05"};
  REQUIRE(infer(with(small, {"--framework", "doetune"})) == 0);
  const Json result = Json::parse(scratch.read("out"));
  CHECK(result["responses"].size() == 2);
  CHECK(result["responses"]["throughput"].get<double>() ==
        Approx(2 / result["responses"]["latency"].get<double>()));
  for (const char* framework : {"onnxruntime", "pytorch"}) {
    CHECK(infer(with(small, {"--framework", framework})) == 77);
    CHECK_THAT(scratch.read("err"), Catch::Contains("pip install"));
  }
  CHECK(infer({"--framework", "abacus"}) == 2);
  CHECK(infer({"--framework", "doetune", "--network", "nonet"}) == 2);
  CHECK(infer({"--framework", "doetune", "--precision", "fp16"}) == 77);
}
