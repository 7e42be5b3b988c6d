#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdlib>

#include "base/random.h"
#include "evaluated_network.h"
#include "gpu_or_skip.h"
#include "layer_cases.h"
#include "workloads/networks/weights.h"
#include "workloads/video/ycbcr_image.h"

using namespace doetune;
using namespace doetune::workloads;

namespace {

bool no_gpu() { return skipped_without("cuda"); }

constexpr Precision kAll[] = {Precision::fp32, Precision::tf32, Precision::bf16, Precision::fp16};

/// Largest difference from the double-precision reference, relative to the largest output: fp32 has
/// 24 significant bits and sums a few thousand terms; tf32, bf16 and fp16 keep 11, 8 and 11 bits of
/// every activation and weight.
double tolerance(Precision precision) {
  constexpr double kTolerances[] = {1e-5, 1e-2, 3e-2, 4e-3};
  return kTolerances[static_cast<int>(precision)];
}

/// Sets the number of cuDNN's proposals timed, during its lifetime.
struct Timed {
  explicit Timed(const char* number) { setenv("DOETUNE_CUDNN_TIMED", number, 1); }
  ~Timed() { unsetenv("DOETUNE_CUDNN_TIMED"); }
};

std::vector<float> some_weights(const Network& network) {
  std::vector<float> block(static_cast<std::size_t>(weight_count(network)));
  random_weights(network, 3, block);
  return block;
}

/// Random numbers in 0..1 for `images` images.
std::vector<float> some_input(const Network& network, int images, std::uint64_t seed = 5) {
  std::vector<float> values(static_cast<std::size_t>(network.input.elements() * images));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = random_unit(seed, i);
  return values;
}

std::unique_ptr<CompiledNetwork> compiled_on_gpu(const Network& network,
                                                 const CompileOptions& options) {
  return make_engine("cuda")->compile(network, some_weights(network), options);
}

std::string repeat_with() {
  return "; repeat with DOETUNE_TEST_SEED=" + std::to_string(test_seed());
}

std::vector<float> first_output(CompiledNetwork& compiled, const Network& network) {
  const auto output = compiled.output();
  return {output.begin(), output.begin() + network.output().elements()};
}

YcbcrImage noise(int width, int height, std::uint64_t seed) {
  YcbcrImage source(width, height);
  std::uint64_t next = 0;
  const auto sample = [&] { return static_cast<std::uint8_t>(random_bits(seed, next++)); };
  for (int y = 0; y < height; ++y) std::generate_n(source.luma_row(y), width, sample);
  for (int y = 0; y < height / 2; ++y) {
    std::generate_n(source.blue_row(y), width / 2, sample);
    std::generate_n(source.red_row(y), width / 2, sample);
  }
  return source;
}

}  // namespace

TEST_CASE("every kind of layer agrees with the reference on the GPU", "[cuda][layers]") {
  if (no_gpu()) return;
  const auto engine = make_engine("cuda");
  for (const LayerCase& each : layer_cases()) {
    const EvaluatedNetwork assessed(each.network, 3, test_seed());
    for (const Precision precision : kAll) {
      INFO(each.name << ", " << name_of(precision) << repeat_with());
      CHECK(assessed.difference(*engine, {4, precision, 1}) < tolerance(precision));
    }
  }
}

TEST_CASE("every network agrees with the reference on the GPU, after any layer and at its end",
          "[cuda]") {
  if (no_gpu()) return;
  const Timed favourites("0");
  const auto engine = make_engine("cuda");
  for (const NetworkType& type : network_types()) {
    const EvaluatedNetwork assessed(make_network(type.name, type.min_height), 1, test_seed());
    const auto layers = assessed.network().layers.size();
    for (const Precision precision : kAll) {
      const std::uint64_t bits = random_bits(test_seed(), static_cast<std::uint64_t>(precision));
      for (const std::uint64_t last : {layers - 1, bits % layers}) {
        INFO(type.name << ", " << name_of(precision) << ", after layer " << last << repeat_with());
        CHECK(assessed.difference(*engine, {1, precision, 1}, static_cast<int>(last)) <
              tolerance(precision));
      }
    }
  }
}

TEST_CASE("fewer images than the batch give the same results on the GPU", "[cuda]") {
  if (no_gpu()) return;
  const auto engine = make_engine("cuda");
  for (const int images : {1, 2, 5}) {
    INFO(images << " images" << repeat_with());
    const EvaluatedNetwork assessed(make_network("tiny-yolov2", 32), images, test_seed());
    CHECK(assessed.difference(*engine, {5, Precision::bf16, 1}) < tolerance(Precision::bf16));
  }
}

TEST_CASE("an image's result on the GPU depends on no other image", "[cuda]") {
  if (no_gpu()) return;
  const Network network = make_network("tiny-yolov2", 64);
  const auto compiled = compiled_on_gpu(network, {2, Precision::bf16, 1});
  const auto one = some_input(network, 1);
  std::vector<std::vector<float>> results;
  for (const float others : {0.0F, 1.0F}) {
    const auto input = compiled->input();
    std::ranges::fill(input, others);
    std::ranges::copy(one, input.begin());
    compiled->infer(2);
    results.push_back(first_output(*compiled, network));
  }
  CHECK(results[0] == results[1]);
}

TEST_CASE("batches under way on the GPU do not disturb each other", "[cuda]") {
  if (no_gpu()) return;
  const Network network = make_network("tiny-yolov2", 64);
  const auto compiled = compiled_on_gpu(network, {1, Precision::fp32, 1});
  REQUIRE(compiled->lanes() == 2);
  std::vector<std::vector<float>> alone;
  for (std::uint64_t seed = 0; seed < 7; ++seed) {
    std::ranges::copy(some_input(network, 1, seed), compiled->input().begin());
    compiled->infer(1);
    alone.push_back(first_output(*compiled, network));
  }
  const auto begin = [&](std::uint64_t seed) {
    std::ranges::copy(some_input(network, 1, seed), compiled->input().begin());
    compiled->submit(1);
  };
  begin(0);
  for (std::uint64_t seed = 0; seed < 7; ++seed) {
    if (seed + 1 < 7) begin(seed + 1);
    compiled->wait();
    std::ranges::copy(some_input(network, 1, 99), compiled->input().begin());  // the next batch
    CHECK(first_output(*compiled, network) == alone[seed]);
  }
}

TEST_CASE("images scaled on the GPU are those of Resizer", "[cuda]") {
  if (no_gpu()) return;
  for (const char* name : {"tiny-yolov2", "tracknet"}) {
    const Network network = make_network(name, network_type(name).min_height);
    const auto compiled = compiled_on_gpu(network, {3, Precision::fp32, 1});
    Resizer resizer({network.input.height, network.input.width});
    const auto elements = static_cast<std::size_t>(network.input.elements());
    const auto in = compiled->input();
    for (int image = 0; image < 3; ++image)
      for (int frame = 0; frame < network.images(); ++frame) {
        const YcbcrImage source = noise(100 + 20 * image, 50, 10 * image + frame);
        resizer(source.view(), in.subspan(image * elements, elements), network.input.channels,
                3 * frame);
      }
    compiled->infer(3);
    const std::vector<float> expected(compiled->output().begin(), compiled->output().end());
    for (int image = 0; image < 3; ++image)
      for (int frame = 0; frame < network.images(); ++frame)
        compiled->load(image, {noise(100 + 20 * image, 50, 10 * image + frame).view(), nullptr},
                       frame);
    compiled->infer(3);
    CHECK(std::ranges::equal(compiled->output(), expected));
  }
}

TEST_CASE("boxes found on the GPU are those of its output", "[cuda]") {
  if (no_gpu()) return;
  const Network network = make_network("tiny-yolov2", 64);
  const auto& head = std::get<DetectionHead>(network.head);
  CompileOptions options{4, Precision::fp32, 1};
  options.confidence_threshold = 0.05F;
  const auto compiled = compiled_on_gpu(network, options);
  std::ranges::copy(some_input(network, 4), compiled->input().begin());
  compiled->infer(4);
  const auto each = static_cast<std::size_t>(network.output().elements());
  std::size_t boxes = 0;
  for (int image = 0; image < 4; ++image) {
    const auto found = compiled->detections(image);
    const auto expected =
        suppress_overlaps(decode_boxes(compiled->output().subspan(image * each, each),
                                       network.output(), head, options.confidence_threshold),
                          options.overlap_threshold);
    REQUIRE(found.size() == expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      CHECK(found[i].class_index == expected[i].class_index);
      CHECK(found[i].x == Approx(expected[i].x).epsilon(1e-4));
      CHECK(found[i].width == Approx(expected[i].width).epsilon(1e-4));
      CHECK(found[i].confidence == Approx(expected[i].confidence).epsilon(1e-4));
    }
    boxes += found.size();
  }
  CHECK(boxes > 0);
}

TEST_CASE("how many proposals are timed must be a number", "[cuda]") {
  if (no_gpu()) return;
  const Timed many("many");
  CHECK_THROWS_WITH(compiled_on_gpu(make_network("tiny-yolov2", 32), {}), Catch::Contains("many"));
}

TEST_CASE("a part of the multiprocessors gives the same results", "[cuda]") {
  if (no_gpu()) return;
  const auto engine = make_engine("cuda", {0, 4, 1});
  CHECK_THAT(engine->description(), Catch::Contains(" of "));
  const EvaluatedNetwork assessed(make_network("tiny-yolov2", 64), 1, test_seed());
  CHECK(assessed.difference(*engine, {1, Precision::fp32, 1}) < tolerance(Precision::fp32));
}

TEST_CASE("the GPU engine refuses what it cannot do", "[cuda]") {
  if (no_gpu()) return;
  const Network network = make_network("tiny-yolov2", 64);
  const auto compiled = compiled_on_gpu(network, {2, Precision::bf16, 1});
  CHECK_THROWS_AS(compiled->infer(3), std::invalid_argument);
  CHECK_THROWS_AS(compiled->infer(0), std::invalid_argument);
  CHECK_THROWS_AS(compiled->wait(), std::logic_error);
  compiled->submit(1);
  compiled->submit(1);
  CHECK_THROWS_AS(compiled->submit(1), std::logic_error);
  CHECK(compiled->device_bytes() > 2 * weight_count(network));
  CHECK_THROWS_AS(make_engine("cuda", {1000}), NoDevice);
  CHECK_THROWS_AS(make_engine("cuda", {0, 2, 2}), std::invalid_argument);
}

TEST_CASE("too little GPU memory is reported in bytes, and the engine goes on", "[cuda]") {
  if (no_gpu()) return;
  const Network network = make_network("yolov2", 608);
  try {
    compiled_on_gpu(network, {100'000, Precision::bf16, 1});
    FAIL("it fits");
  } catch (const CannotRun& error) {
    CHECK_THAT(error.what(), Catch::Contains("bytes") && Catch::Contains("are free"));
  }
  const EvaluatedNetwork assessed(make_network("tiny-yolov2", 32), 1, test_seed());
  CHECK(assessed.difference(*make_engine("cuda"), {1, Precision::fp32, 1}) <
        tolerance(Precision::fp32));
}
