#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <functional>

#include "workloads/networks/parameters.h"
#include "workloads/networks/weights.h"

using namespace doetune;
using namespace doetune::workloads;

namespace {

/// 2 normalised filters of 3 x 1 x 1, then 3 classes of 2 x 4 x 4 with biases.
Network two_layers() {
  NetworkBuilder net("two-layers", {3, 4, 4});
  return net.conv(2, 1, Activation::relu).dense(3, Activation::linear).build(ClassificationHead{3});
}

}  // namespace

TEST_CASE("the layout names every parameter once, in layer order", "[parameters]") {
  for (const NetworkType& type : network_types()) {
    INFO(type.name);
    const Network net = make_network(type.name, type.default_height);
    std::int64_t offset = 0;
    std::int64_t normalised = 0;
    for (const ParameterTensor& tensor : parameter_layout(net)) {
      CHECK(tensor.offset == offset);
      offset += tensor.count;
      if (tensor.kind == ParameterKind::scale) normalised += tensor.count;
    }
    CHECK(offset == parameters(net));
    CHECK(statistics_count(net) == 2 * normalised);
  }
}

TEST_CASE("a small network's layout, by hand", "[parameters]") {
  struct Expected {
    int layer;
    ParameterKind kind;
    int count;
  };
  constexpr Expected kExpected[] = {{0, ParameterKind::weights, 6},
                                    {0, ParameterKind::scale, 2},
                                    {0, ParameterKind::shift, 2},
                                    {1, ParameterKind::weights, 96},
                                    {1, ParameterKind::bias, 3}};
  const auto layout = parameter_layout(two_layers());
  REQUIRE(layout.size() == std::size(kExpected));
  for (std::size_t i = 0; i < layout.size(); ++i) {
    CHECK(layout[i].layer == kExpected[i].layer);
    CHECK(layout[i].kind == kExpected[i].kind);
    CHECK(layout[i].count == kExpected[i].count);
  }
}

TEST_CASE("a network begins with its residual blocks as their shortcuts", "[parameters]") {
  const Network net = make_network("resnet-20", 32);
  std::vector<float> block(parameters(net), -1.0F);
  initial_parameters(net, 1, block);
  int ones = 0;
  int zeros = 0;
  for (const ParameterTensor& tensor : parameter_layout(net)) {
    const auto values = std::span(block).subspan(tensor.offset, tensor.count);
    if (tensor.kind == ParameterKind::weights) {
      CHECK(std::ranges::adjacent_find(values, std::equal_to()) == values.end());
    } else {
      CHECK(std::ranges::all_of(values, [&](float value) { return value == values[0]; }));
      if (tensor.kind == ParameterKind::scale) ++(values[0] == 1.0F ? ones : zeros);
      if (tensor.kind != ParameterKind::scale) CHECK(values[0] == 0.0F);
    }
  }
  CHECK(zeros == 9);      // one per block
  CHECK(ones == 21 - 9);  // 1 + 18 convolutions and 2 projections
  std::vector<float> again(block.size());
  initial_parameters(net, 1, again);
  CHECK(again == block);
  initial_parameters(net, 2, again);
  CHECK(again != block);
}

TEST_CASE("folding a batch normalisation into weights and bias, by hand", "[parameters]") {
  const Network net = two_layers();
  std::vector<float> block(parameters(net));
  for (std::size_t i = 0; i < block.size(); ++i) block[i] = static_cast<float>(i + 1) / 8;
  const std::vector<float> statistics{0.5F, -0.25F, 2.0F, 0.0F};  // means, variances
  const auto folded = folded_weights(net, block, statistics);
  REQUIRE(static_cast<std::int64_t>(folded.size()) == weight_count(net));
  const double factors[] = {7 / 8.0 / std::sqrt(2 + 1e-5), 8 / 8.0 / std::sqrt(1e-5)};
  const ConvolutionWeights first = convolution_weights(net, folded, 0);
  for (int w = 0; w < 6; ++w) CHECK(first.weights[w] == Approx((w + 1) / 8.0 * factors[w / 3]));
  CHECK(first.bias[0] == Approx(9 / 8.0 - 0.5 * factors[0]));
  CHECK(first.bias[1] == Approx(10 / 8.0 + 0.25 * factors[1]));
  const ConvolutionWeights second = convolution_weights(net, folded, 1);
  CHECK(second.weights[0] == 11 / 8.0F);
  CHECK(second.weights[95] == 106 / 8.0F);
  CHECK(second.bias[2] == 109 / 8.0F);
  std::vector<float> initial(statistics.size());
  initial_statistics(net, initial);
  CHECK(initial == std::vector<float>{0, 0, 1, 1});
}
