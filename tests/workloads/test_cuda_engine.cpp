#include <catch2/catch.hpp>

#include "engine_agreement.h"
#include "workloads/video/picture.h"

using namespace doetune::workloads;

namespace {

/// Says so where there is nothing to test on.
bool no_gpu() {
  try {
    return device_count("cuda") == 0;
  } catch (const NoDevice& reason) {
    WARN("skipped: " << reason.what());
    return true;
  }
}

constexpr Precision kAll[] = {Precision::fp32, Precision::tf32, Precision::bf16, Precision::fp16};

double agreement(Precision precision) { return kAgreement[static_cast<int>(precision)]; }

std::unique_ptr<CompiledNetwork> compiled_on_gpu(const Network& network,
                                                 const CompileOptions& options) {
  return make_engine("cuda")->compile(network, agreement_weights(network), options);
}

std::vector<float> first_output(CompiledNetwork& compiled, const Network& network) {
  const auto output = compiled.output();
  return {output.begin(), output.begin() + network.output().elements()};
}

Picture noise(int width, int height, std::uint64_t seed) {
  Picture picture(width, height);
  std::uint64_t next = 0;
  const auto sample = [&] { return static_cast<std::uint8_t>(random_bits(seed, next++)); };
  for (int y = 0; y < height; ++y) std::generate_n(picture.luma_row(y), width, sample);
  for (int y = 0; y < height / 2; ++y) {
    std::generate_n(picture.blue_row(y), width / 2, sample);
    std::generate_n(picture.red_row(y), width / 2, sample);
  }
  return picture;
}

}  // namespace

TEST_CASE("every layer kind agrees with the reference on the GPU", "[cuda][layers]") {
  if (no_gpu()) return;
  for (const Precision precision : kAll)
    for (const AgreementCase& each : agreement_cases()) {
      INFO(each.name << ", " << name_of(precision));
      CHECK(difference_on("cuda", each.network, {3, precision, 1}, 3) < agreement(precision));
    }
}

TEST_CASE("the largest channel is found on the GPU", "[cuda][layers]") {
  if (no_gpu()) return;
  const Network network = NetworkBuilder("levels", {3, 13, 11})
                              .conv(20, 3)
                              .linear_conv(13, 1)
                              .channel_arg_max()
                              .build(HeatMapHead{13});
  CHECK(difference_on("cuda", network, {3, Precision::fp32, 1}, 3) == 0);
}

TEST_CASE("whole networks agree with the reference on the GPU", "[cuda]") {
  if (no_gpu()) return;
  for (const char* name : {"tiny-yolov2", "yolov2", "resnet-50"})
    for (const Precision precision : kAll) {
      INFO(name << ", " << name_of(precision));
      CHECK(difference_on("cuda", make_network(name, 64), {2, precision, 1}, 2) <
            agreement(precision));
    }
}

TEST_CASE("fewer images than the batch give the same results on the GPU", "[cuda]") {
  if (no_gpu()) return;
  const Network network = make_network("tiny-yolov2", 32);
  for (const int images : {1, 2, 5})
    CHECK(difference_on("cuda", network, {5, Precision::fp32, 1}, images) <
          agreement(Precision::fp32));
}

TEST_CASE("an image's result on the GPU depends on no other image", "[cuda]") {
  if (no_gpu()) return;
  const Network network = make_network("tiny-yolov2", 64);
  const auto compiled = compiled_on_gpu(network, {2, Precision::bf16, 1});
  const auto one = agreement_input(network, 1);
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
    std::ranges::copy(agreement_input(network, 1, seed), compiled->input().begin());
    compiled->infer(1);
    alone.push_back(first_output(*compiled, network));
  }
  const auto begin = [&](std::uint64_t seed) {
    std::ranges::copy(agreement_input(network, 1, seed), compiled->input().begin());
    compiled->submit(1);
  };
  begin(0);
  for (std::uint64_t seed = 0; seed < 7; ++seed) {
    if (seed + 1 < 7) begin(seed + 1);
    compiled->wait();
    std::ranges::copy(agreement_input(network, 1, 99), compiled->input().begin());  // one ahead
    CHECK(first_output(*compiled, network) == alone[seed]);
  }
}

TEST_CASE("pictures scaled on the GPU are those of Resizer", "[cuda]") {
  if (no_gpu()) return;
  for (const char* name : {"tiny-yolov2", "tracknet"}) {
    const Network network = make_network(name, network_type(name).least);
    const auto compiled = compiled_on_gpu(network, {3, Precision::fp32, 1});
    Resizer resizer({network.input.height, network.input.width});
    const auto elements = static_cast<std::size_t>(network.input.elements());
    const auto in = compiled->input();
    for (int image = 0; image < 3; ++image)
      for (int frame = 0; frame < network.pictures(); ++frame) {
        const Picture picture = noise(100 + 20 * image, 50, 10 * image + frame);
        resizer(picture.view(), in.subspan(image * elements, elements), network.input.channels,
                3 * frame);
      }
    compiled->infer(3);
    const std::vector<float> expected(compiled->output().begin(), compiled->output().end());
    for (int image = 0; image < 3; ++image)
      for (int frame = 0; frame < network.pictures(); ++frame)
        compiled->load(image, noise(100 + 20 * image, 50, 10 * image + frame).view(), frame);
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
  std::ranges::copy(agreement_input(network, 4), compiled->input().begin());
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

TEST_CASE("the heuristics' choice of plans gives the same results", "[cuda]") {
  if (no_gpu()) return;
  setenv("DOETUNE_CUDNN_TIMED", "0", 1);
  const Network network = make_network("resnet-50", 64);
  CHECK(difference_on("cuda", network, {2, Precision::bf16, 1}, 2) < agreement(Precision::bf16));
  setenv("DOETUNE_CUDNN_TIMED", "many", 1);
  CHECK_THROWS_WITH(compiled_on_gpu(network, {}), Catch::Contains("many"));
  unsetenv("DOETUNE_CUDNN_TIMED");
}

TEST_CASE("a part of the multiprocessors gives the same results", "[cuda]") {
  if (no_gpu()) return;
  const auto engine = make_engine("cuda", {0, 0.25});
  CHECK_THAT(engine->description(), Catch::Contains(" of "));
  const Network network = make_network("tiny-yolov2", 64);
  const auto weights = agreement_weights(network);
  const auto compiled = engine->compile(network, weights, {1, Precision::fp32, 1});
  const auto input = agreement_input(network, 1);
  std::ranges::copy(input, compiled->input().begin());
  compiled->infer(1);
  CHECK(difference_of(network, weights, input, compiled->output()) < agreement(Precision::fp32));
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
  CHECK_THROWS_AS(make_engine("cuda", {1000, 1.0}), NoDevice);
  CHECK_THROWS_AS(make_engine("cuda", {0, 0.0}), std::invalid_argument);
}

TEST_CASE("too little GPU memory is told in bytes, and the engine goes on", "[cuda]") {
  if (no_gpu()) return;
  const Network network = make_network("yolov2", 608);
  try {
    compiled_on_gpu(network, {100'000, Precision::bf16, 1});
    FAIL("it fits");
  } catch (const CannotRun& error) {
    CHECK_THAT(error.what(), Catch::Contains("bytes") && Catch::Contains("are free"));
  }
  CHECK(difference_on("cuda", make_network("tiny-yolov2", 32), {1, Precision::fp32, 1}, 1) <
        agreement(Precision::fp32));
}
