// The programs gemm, copy and network-inference from outside.
#include <catch2/catch.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

/// A directory for one test: the programs' cache, requests, answers and messages.
struct Workplace {
  fs::path path = fs::temp_directory_path() / ("doetune-machine-" + std::to_string(getpid()));
  Workplace() { fs::create_directories(path); }
  ~Workplace() { fs::remove_all(path); }

  std::string read(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(path / name).rdbuf();
    return text.str();
  }

  /// The exit code; output and messages are in the files `out` and `err`.
  int run(const std::string& program, const std::string& arguments,
          const std::string& environment = "") const {
    const std::string place = path.string();
    const int status = std::system(("cd '" + place + "' && XDG_CACHE_HOME='" + place +
                                    "' CUDA_VISIBLE_DEVICES= " + environment + " '" + program +
                                    "' " + arguments + " >out 2>err")
                                       .c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  /// The answer to a request file.
  Json answer(const std::string& program, const Json& request) const {
    std::ofstream(path / "request.json") << request;
    REQUIRE(run(program, "", "DOETUNE_REQUEST=request.json DOETUNE_RESULT=result.json") == 0);
    return Json::parse(read("result.json"));
  }
};

const Json kQuick{{"warmup", 0}, {"duration", 0.05}, {"threads", 1}, {"roofline", "off"}};

Json with(Json settings, const Json& more) {
  settings.update(more);
  return settings;
}

const Json kProduct = with(kQuick, {{"m", 48}, {"n", 32}, {"k", 64}});
const Json kArrays = with(kQuick, {{"size", 0.25}});
const Json kNetwork =
    with(kQuick, {{"model", "tiny-yolov2"}, {"input_size", 32}, {"batch_size", 2}});

}  // namespace

TEST_CASE("the rate of a product is its operations over its time", "[program]") {
  const Workplace place;
  const Json result =
      place.answer(DOETUNE_GEMM, {{"factors", {{"k", 80}}}, {"settings", kProduct}});
  const double time = result["responses"]["time"];
  CHECK(result["responses"]["rate"].get<double>() == Approx(2.0 * 48 * 32 * 80 / time / 1e12));
  CHECK(result["responses"]["intensity"].get<double>() ==
        Approx(2.0 * 48 * 32 * 80 / 4 / (48 * 80 + 80 * 32 + 48 * 32)));
  CHECK(result["notes"]["roofline_fraction"] == "roofline is off");
  CHECK(result["stopped_by"] == "least time reached");
}

TEST_CASE("m, n and k are the size where they are not given", "[program]") {
  const Workplace place;
  const Json settings = with(kQuick, {{"size", 24}, {"n", 48}});
  const Json result = place.answer(DOETUNE_GEMM, {{"settings", settings}});
  const double time = result["responses"]["time"];
  CHECK(result["responses"]["rate"].get<double>() == Approx(2.0 * 24 * 48 * 24 / time / 1e12));
}

TEST_CASE("bandwidth is bytes over time, as STREAM counts", "[program]") {
  const Workplace place;
  for (const auto& [kind, arrays] : {std::pair("copy", 2), std::pair("triad", 3)}) {
    const Json result =
        place.answer(DOETUNE_COPY, {{"factors", {{"kind", kind}}}, {"settings", kArrays}});
    const double time = result["responses"]["time"];
    CHECK(result["responses"]["bandwidth"].get<double>() ==
          Approx(arrays * 0.25 * 1048576 / time / 1e9));
  }
}

TEST_CASE("throughput of a network is its batch over the latency", "[program]") {
  const Workplace place;
  const Json result = place.answer(DOETUNE_NETWORK_INFERENCE, {{"settings", kNetwork}});
  const double latency = result["responses"]["latency"];
  CHECK(result["responses"]["throughput"].get<double>() == Approx(2 / latency));
  CHECK((result["responses"].contains("latency_p99") || result["notes"].contains("latency_p99")));
}

TEST_CASE("fractions are of the ceilings in the notes, which are measured once", "[program]") {
  const Workplace place;
  const Json on = with(kProduct, {{"roofline", "cached"}});
  const Json first = place.answer(DOETUNE_GEMM, {{"settings", on}});
  const Json second = place.answer(DOETUNE_GEMM, {{"settings", on}});
  CHECK(first["notes"]["ceiling_tflop_per_s"] == second["notes"]["ceiling_tflop_per_s"]);
  const double attainable = std::min(second["notes"]["ceiling_tflop_per_s"].get<double>(),
                                     second["notes"]["ceiling_gb_per_s"].get<double>() * 1e-3 *
                                         second["responses"]["intensity"].get<double>());
  CHECK(second["responses"]["roofline_fraction"].get<double>() ==
        Approx(second["responses"]["rate"].get<double>() / attainable));
}

TEST_CASE("repeats and a wanted precision are obeyed", "[program]") {
  const Workplace place;
  const Json result =
      place.answer(DOETUNE_GEMM,
                   {{"settings", kProduct}, {"repeats", 3}, {"precision", 0.9}, {"max_time_s", 5}});
  CHECK(result["repeats"]["rate"].size() == 3);
  CHECK(result["window"][0] < result["window"][1]);
}

TEST_CASE("the network, its weights and a batch are written where asked", "[program]") {
  const Workplace place;
  place.answer(DOETUNE_NETWORK_INFERENCE, {{"settings", with(kNetwork, {{"dump", "there"}})}});
  const Json network = Json::parse(place.read("there/network.json"));
  CHECK(network["name"] == "tiny-yolov2");
  CHECK(fs::file_size(place.path / "there/input.f32") == 2 * 3 * 32 * 32 * 4);
  CHECK(fs::file_size(place.path / "there/output.f32") == 2 * 125 * 4);
  // Learned numbers, less a scale for each of the 3,056 batch-normalised filters: folded in.
  CHECK(fs::file_size(place.path / "there/weights.f32") ==
        4 * (network["parameters"].get<std::uintmax_t>() - 3056));
}

TEST_CASE("every response is described, and given or explained", "[program]") {
  const Workplace place;
  for (const auto& [program, settings] :
       {std::pair(DOETUNE_GEMM, kProduct), std::pair(DOETUNE_COPY, kArrays),
        std::pair(DOETUNE_NETWORK_INFERENCE, kNetwork)}) {
    REQUIRE(place.run(program, "--describe") == 0);
    const Json described = Json::parse(place.read("out"));
    const Json result = place.answer(program, {{"settings", settings}});
    for (const Json& response : described["responses"]) {
      const auto name = response["name"].get<std::string>();
      CHECK((result["responses"].contains(name) || result["notes"].contains(name)));
    }
  }
}

TEST_CASE("wrong inputs end with code 2 and say what was expected", "[program]") {
  const Workplace place;
  CHECK(place.run(DOETUNE_GEMM, "--m 0") == 2);
  CHECK_THAT(place.read("err"), Catch::Contains("1 to 65536"));
  CHECK(place.run(DOETUNE_GEMM, "--prezision bf16") == 2);
  CHECK_THAT(place.read("err"), Catch::Contains("precision"));
  CHECK(place.run(DOETUNE_COPY, "--kind tread") == 2);
  CHECK_THAT(place.read("err"), Catch::Contains("did you mean 'triad'"));
  CHECK(place.run(DOETUNE_NETWORK_INFERENCE, "--model alexnet --input_size 100") == 2);
  CHECK_THAT(place.read("err"), Catch::Contains("224"));
  CHECK(place.run(DOETUNE_NETWORK_INFERENCE, "--batch_size 0") == 2);
}

TEST_CASE("a device or precision that is not there ends with code 77", "[program]") {
  const Workplace place;
  for (const char* program : {DOETUNE_GEMM, DOETUNE_COPY, DOETUNE_NETWORK_INFERENCE}) {
    CHECK(place.run(program, "--device cuda") == 77);
    CHECK_THAT(place.read("err"), Catch::Contains("CUDA") || Catch::Contains("GPU"));
  }
  CHECK(place.run(DOETUNE_GEMM, "--device cpu --precision fp16") == 77);
  CHECK(place.run(DOETUNE_COPY, "--device cpu --kind host-to-device") == 77);
}

TEST_CASE("weights that are cut off, and a place that cannot be written, end with code 1",
          "[program]") {
  const Workplace place;
  std::ofstream(place.path / "short.weights") << "0123456789";
  const std::string small = "--input_size 32 --roofline off --duration 0 --warmup 0 ";
  CHECK(place.run(DOETUNE_NETWORK_INFERENCE, small + "--weights short.weights") == 1);
  CHECK_THAT(place.read("err"), Catch::Contains("cut off"));
  CHECK(place.run(DOETUNE_NETWORK_INFERENCE, small + "--dump /dev/null/there") == 1);
}

TEST_CASE("the example's script runs doetune's engine, and tells of a framework that is missing",
          "[program]") {
  const Workplace place;
  std::ofstream(place.path / "doetune")
      << "#!/bin/sh\nshift 2\nexec '" DOETUNE_NETWORK_INFERENCE "' \"$@\"\n";
  fs::permissions(place.path / "doetune", fs::perms::owner_all);
  // -I -S: without the packages that the interpreter may have.
  const std::string script = "-I -S '" DOETUNE_INFER_SCRIPT "' --doetune ./doetune ";
  const std::string small =
      "--network tiny-yolov2 --input_size 32 --batch_size 2 --warmup 0 --duration 0.05 ";
  REQUIRE(place.run(DOETUNE_PYTHON, script + small + "--framework doetune") == 0);
  const Json result = Json::parse(place.read("out"));
  CHECK(result["responses"].size() == 2);
  CHECK(result["responses"]["throughput"].get<double>() ==
        Approx(2 / result["responses"]["latency"].get<double>()));
  for (const char* framework : {"onnxruntime", "pytorch"}) {
    CHECK(place.run(DOETUNE_PYTHON, script + small + "--framework " + framework) == 77);
    CHECK_THAT(place.read("err"), Catch::Contains("pip install"));
  }
  CHECK(place.run(DOETUNE_PYTHON, script + "--framework abacus") == 2);
  CHECK(place.run(DOETUNE_PYTHON, script + "--framework doetune --network nonet") == 2);
  CHECK(place.run(DOETUNE_PYTHON, script + "--framework doetune --precision fp16") == 77);
}
