#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>

#include "reference.h"
#include "workloads/engines/engine.h"
#include "workloads/networks/weights.h"
#include "workloads/random.h"

using namespace doetune::workloads;

namespace {

// Largest difference from the double-precision reference, as a part of the largest output. fp32
// keeps 24 bits and sums a few thousand terms; tf32, bf16 and fp16 keep 11, 8 and 11 bits of every
// activation and weight.
constexpr double kTolerance[] = {1e-5, 1e-2, 3e-2, 4e-3};

struct Case {
  std::string name;
  Network network;
};

DetectionHead one_anchor(int channels) { return {{{1.0F, 1.0F}}, channels - 5}; }

/// Every kind of layer after a convolution, at sizes that are odd and channels that fill no vector.
std::vector<Case> layer_cases() {
  std::vector<Case> cases;
  const auto add = [&](std::string name, NetworkBuilder& net, int channels) {
    cases.push_back({std::move(name), net.build(one_anchor(channels))});
  };
  NetworkBuilder leaky("leaky", {3, 13, 11});
  add("3x3 convolution, leaky", leaky.conv(20, 3), 20);
  NetworkBuilder linear("linear", {3, 13, 11});
  add("1x1 convolution, linear", linear.conv(16, 3).linear_conv(25, 1), 25);
  NetworkBuilder halved("halved", {3, 13, 11});
  add("pooling 2/2 of an odd size", halved.conv(20, 3).max_pool(2, 2), 20);
  NetworkBuilder kept("kept", {3, 13, 11});
  add("pooling 2/1", kept.conv(16, 3).max_pool(2, 1), 16);
  NetworkBuilder reorg("reorg", {3, 12, 8});
  add("reorg", reorg.conv(12, 3).reorg(2), 48);
  NetworkBuilder branch("branch", {3, 12, 8});
  branch.conv(16, 3).max_pool(2, 2).conv(24, 3).route({0}).conv(8, 1).reorg(2);
  add("branches that join", branch.route({branch.last(), 2}).conv(20, 3).linear_conv(30, 1), 30);
  return cases;
}

std::vector<float> random_block(const Network& network) {
  std::vector<float> block(weight_count(network));
  random_weights(network, 3, block);
  return block;
}

void fill_random(std::span<float> values) {
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = random_unit(5, i);
}

/// Largest difference of all images from the reference, as a part of the largest output.
double difference(const Network& network, const CompileOptions& options, int images) {
  const auto block = random_block(network);
  const auto compiled = make_engine("cpu")->compile(network, block, options);
  fill_random(compiled->input());
  compiled->infer(images);
  double largest = 0;
  double worst = 0;
  for (int image = 0; image < images; ++image) {
    const auto in =
        compiled->input().subspan(image * network.input.elements(), network.input.elements());
    const auto out = compiled->output().subspan(image * network.output().elements(),
                                                network.output().elements());
    const auto expected = reference_infer(network, block, in);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      largest = std::max(largest, std::abs(expected[i]));
      worst = std::max(worst, std::abs(out[i] - expected[i]));
    }
  }
  return worst / largest;
}

/// Those that this CPU has: oneDNN needs AVX-512 for bf16.
std::vector<Precision> precisions() {
  const Network network = layer_cases()[0].network;
  const auto block = random_block(network);
  try {
    make_engine("cpu")->compile(network, block, {1, Precision::bf16, 1});
    return {Precision::fp32, Precision::bf16};
  } catch (const CannotRun&) {
    WARN("bf16 is not tested: this CPU lacks it");
    return {Precision::fp32};
  }
}

}  // namespace

TEST_CASE("every layer kind agrees with the reference", "[engine]") {
  for (const auto precision : precisions())
    for (const Case& each : layer_cases()) {
      INFO(each.name << ", precision " << static_cast<int>(precision));
      CHECK(difference(each.network, {3, precision, 1}, 3) <
            kTolerance[static_cast<int>(precision)]);
    }
}

TEST_CASE("whole networks agree with the reference", "[engine]") {
  for (const auto precision : precisions())
    for (const NetworkType& type : network_types().first(2)) {
      INFO(type.name << ", precision " << static_cast<int>(precision));
      CHECK(difference(make_network(type.name, 64), {2, precision, 2}, 2) <
            kTolerance[static_cast<int>(precision)]);
    }
}

TEST_CASE("large convolutions, which take oneDNN's Winograd path, agree with the reference",
          "[engine]") {
  NetworkBuilder builder("large",
                         {3, 33, 34});  // odd: the transform's tiles of 2 or 4 pixels do not fit
  const Network network =
      builder.conv(32, 3).conv(48, 3).max_pool(2, 2).conv(64, 3).build(one_anchor(64));
  for (const int images : {1, 4})
    CHECK(difference(network, {4, Precision::fp32, 2}, images) < kTolerance[0]);
}

TEST_CASE("fewer images than the batch give the same results", "[engine]") {
  const Network network = make_network("tiny-yolov2", 32);
  for (const int images : {1, 2, 5})
    CHECK(difference(network, {5, Precision::fp32, 1}, images) < kTolerance[0]);
}

TEST_CASE("an image's result depends on no other image in the batch", "[engine]") {
  const Network network = make_network("tiny-yolov2", 64);
  const auto block = random_block(network);
  const auto compiled = make_engine("cpu")->compile(network, block, {2, Precision::fp32, 1});
  const auto first = network.output().elements();
  fill_random(compiled->input());
  compiled->infer(2);
  const std::vector<float> before(compiled->output().begin(), compiled->output().begin() + first);
  std::ranges::fill(compiled->input().subspan(network.input.elements()), 1.0F);
  compiled->infer(2);
  CHECK(std::equal(before.begin(), before.end(), compiled->output().begin()));
}

TEST_CASE("an engine refuses what it cannot do", "[engine]") {
  CHECK_THROWS_WITH(make_engine("abacus"), Catch::Contains("abacus"));
  const Network network = make_network("tiny-yolov2", 32);
  const auto block = random_block(network);
  const auto compiled = make_engine("auto")->compile(network, block, {2, Precision::fp32, 1});
  CHECK_THROWS_AS(compiled->infer(3), std::invalid_argument);
  CHECK_THROWS_AS(compiled->infer(0), std::invalid_argument);
}
