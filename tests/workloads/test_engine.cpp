#include <catch2/catch.hpp>

#include <algorithm>

#include "base/random.h"
#include "evaluated_network.h"
#include "layer_cases.h"
#include "workloads/networks/weights.h"

using namespace doetune;
using namespace doetune::workloads;

namespace {

// Largest difference from the double-precision reference, relative to the largest output. fp32 has
// 24 significant bits and sums a few thousand terms; bf16 keeps 8 bits of every activation and
// weight.
double tolerance(Precision precision) { return precision == Precision::fp32 ? 1e-5 : 3e-2; }

/// The precisions that this CPU supports: oneDNN needs AVX-512 for bf16.
std::vector<Precision> precisions() {
  const Network network = layer_cases()[0].network;
  const std::vector<float> weights(weight_count(network));
  try {
    make_engine("cpu")->compile(network, weights, {1, Precision::bf16, 1});
    return {Precision::fp32, Precision::bf16};
  } catch (const CannotRun&) {
    WARN("bf16 is not tested: this CPU lacks it");
    return {Precision::fp32};
  }
}

std::string repeat_with() {
  return "; repeat with DOETUNE_TEST_SEED=" + std::to_string(test_seed());
}

}  // namespace

TEST_CASE("every kind of layer agrees with the reference", "[engine]") {
  const auto engine = make_engine("cpu");
  for (const LayerCase& each : layer_cases())
    for (const int images : {1, 4}) {
      const EvaluatedNetwork assessed(each.network, images, test_seed());
      for (const auto precision : precisions())
        for (const int threads : {1, 2}) {
          INFO(each.name << ", " << name_of(precision) << ", images: " << images
                         << ", threads: " << threads << repeat_with());
          CHECK(assessed.difference(*engine, {4, precision, threads}) < tolerance(precision));
        }
    }
}

TEST_CASE("every network agrees with the reference, after any layer and at its end",
          "[engine][long]") {
  const auto engine = make_engine("cpu");
  for (const NetworkType& type : network_types()) {
    const EvaluatedNetwork assessed(make_network(type.name, type.min_height), 1, test_seed());
    const auto check = [&](Precision precision, int last) {
      INFO(type.name << ", " << name_of(precision) << ", after layer " << last << repeat_with());
      CHECK(assessed.difference(*engine, {1, precision, 1}, last) < tolerance(precision));
    };
    const auto layers = static_cast<int>(assessed.network().layers.size());
    for (const auto precision : precisions()) {
      check(precision, layers - 1);
      const std::uint64_t bits = random_bits(test_seed(), static_cast<std::uint64_t>(precision));
      check(precision, static_cast<int>(bits % layers));  // a random one in each run of the tests
    }
  }
}

TEST_CASE("fewer images than the batch give the same results", "[engine]") {
  const auto engine = make_engine("cpu");
  for (const int images : {1, 2, 5}) {
    INFO(images << " images" << repeat_with());
    const EvaluatedNetwork assessed(make_network("tiny-yolov2", 32), images, test_seed());
    CHECK(assessed.difference(*engine, {5, Precision::fp32, 1}) < tolerance(Precision::fp32));
  }
}

TEST_CASE("an image's result depends on no other image in the batch", "[engine]") {
  for (const auto name : {"tiny-yolov2", "googlenet", "resnet-50"}) {
    const EvaluatedNetwork assessed(make_network(name, 32), 1, test_seed());
    const Network& network = assessed.network();
    const auto compiled =
        make_engine("cpu")->compile(network, assessed.weights(), {2, Precision::fp32, 1});
    const auto first = network.output().elements();
    for (std::size_t i = 0; i < compiled->input().size(); ++i)
      compiled->input()[i] = random_unit(test_seed(), i);
    compiled->infer(2);
    const std::vector<float> before(compiled->output().begin(), compiled->output().begin() + first);
    std::ranges::fill(compiled->input().subspan(network.input.elements()), 1.0F);
    compiled->infer(2);
    INFO(name << repeat_with());
    CHECK(std::equal(before.begin(), before.end(), compiled->output().begin()));
  }
}

TEST_CASE("the largest channel is the first of equals, and exact in any precision", "[engine]") {
  constexpr int kChannels = 400;  // more than bf16 can represent consecutively
  NetworkBuilder net("arg max", {3, 3, 5});
  const Network network =
      net.conv(kChannels, 1, Activation::linear).channel_arg_max().build(HeatMapHead{kChannels});
  std::vector<float> weights(weight_count(network), 0.0F);
  const auto bias = std::span(weights).last(kChannels);
  const auto chosen = [&](Precision precision) {
    const auto compiled = make_engine("cpu")->compile(network, weights, {2, precision, 1});
    std::ranges::fill(compiled->input(), 1.0F);
    compiled->infer(2);
    return std::vector<float>(compiled->output().begin(), compiled->output().end());
  };
  for (const auto precision : precisions()) {
    std::ranges::fill(bias, -1.0F);
    CHECK(chosen(precision) == std::vector<float>(2 * 3 * 5, 0.0F));
    bias[387] = bias[391] = -0.5F;
    CHECK(chosen(precision) == std::vector<float>(2 * 3 * 5, 387.0F));
    bias[399] = 0.5F;
    CHECK(chosen(precision) == std::vector<float>(2 * 3 * 5, 399.0F));
  }
}

TEST_CASE("an image that is loaded fills the input as Resizer does, each frame its channels",
          "[engine]") {
  YcbcrImage first(40, 30), second(64, 48);
  for (int y = 0; y < 30; ++y)
    for (int x = 0; x < 40; ++x) first.luma_row(y)[x] = static_cast<std::uint8_t>(6 * x + y);
  for (int y = 0; y < 48; ++y)
    for (int x = 0; x < 64; ++x) second.luma_row(y)[x] = static_cast<std::uint8_t>(255 - 5 * y);
  NetworkBuilder net("two frames", {6, 16, 20});
  const Network network = net.conv(6, 1).build(DetectionHead{{{1.0F, 1.0F}}, 1});
  const std::vector<float> weights(weight_count(network));
  const auto compiled = make_engine("cpu")->compile(network, weights, {3, Precision::fp32, 1});
  std::ranges::fill(compiled->input(), -1.0F);
  compiled->load(1, {first.view(), nullptr}, 0);
  compiled->load(1, {second.view(), nullptr}, 1);

  const auto elements = static_cast<std::size_t>(network.input.elements());
  std::vector<float> expected(3 * elements, -1.0F);
  Resizer resize({16, 20});
  const auto image = std::span(expected).subspan(elements, elements);
  resize(first.view(), image, 6, 0);
  resize(second.view(), image, 6, 3);
  CHECK(std::equal(expected.begin(), expected.end(), compiled->input().begin()));
  CHECK(std::ranges::count(image, -1.0F) == 0);
}

TEST_CASE("an engine refuses what it cannot do", "[engine]") {
  CHECK_THROWS_WITH(make_engine("abacus"), Catch::Contains("abacus"));
  const Network network = make_network("tiny-yolov2", 32);
  const std::vector<float> weights(weight_count(network));
  const auto compiled = make_engine("cpu")->compile(network, weights, {2, Precision::fp32, 1});
  CHECK_THROWS_AS(compiled->infer(3), std::invalid_argument);
  CHECK_THROWS_AS(compiled->infer(0), std::invalid_argument);
}

TEST_CASE("the CPU engine says which precisions it has", "[engine]") {
  const Network network = make_network("tiny-yolov2", 32);
  const std::vector<float> weights(weight_count(network));
  for (const auto precision : {Precision::tf32, Precision::fp16}) {
    CHECK_THROWS_AS(make_engine("cpu")->compile(network, weights, {1, precision, 1}), CannotRun);
    CHECK_THROWS_WITH(
        make_engine("cpu")->compile(network, weights, {1, precision, 1}),
        Catch::Contains(std::string(name_of(precision))) && Catch::Contains("fp32 and bf16"));
  }
}
