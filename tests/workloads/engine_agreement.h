// How an engine's results are held against the reference, on whatever device.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "reference.h"
#include "workloads/engines/engine.h"
#include "workloads/networks/weights.h"
#include "workloads/random.h"

namespace doetune::workloads {

/// Largest difference from the double-precision reference, as a part of the largest output: fp32
/// keeps 24 bits and sums a few thousand terms; tf32, bf16 and fp16 keep 11, 8 and 11 bits of every
/// activation and weight.
inline constexpr double kAgreement[] = {1e-5, 1e-2, 3e-2, 4e-3};

struct AgreementCase {
  std::string name;
  Network network;
};

/// Every kind of layer, at sizes that are odd and channels that fill no vector.
inline std::vector<AgreementCase> agreement_cases() {
  using enum Activation;
  std::vector<AgreementCase> cases;
  const auto start = [] { return NetworkBuilder("layers", {3, 13, 11}); };
  const auto add = [&](std::string name, NetworkBuilder net) {
    const auto channels = net.linear_conv(9, 1).last();
    static_cast<void>(channels);
    cases.push_back({std::move(name), net.build(DetectionHead{{{1.0F, 1.0F}}, 4})});
  };
  const auto same = [](int filters, Activation activation) {
    return Convolution{filters, {3, 3}, 1, {1, 1}, activation};
  };
  add("3x3 convolution, leaky", start().conv(20, 3));
  add("3x3 convolution, ReLU", start().conv(20, 3, relu));
  add("convolution by 2, wide", start().conv(Convolution{12, {1, 7}, 2, {0, 3}, relu}));
  add("maximum 2/2 of an odd size", start().conv(20, 3).max_pool(2, 2));
  add("maximum 2/1", start().conv(16, 3).max_pool(2, 1));
  add("maximum 3/2 padded", start().conv(16, 3).max_pool(MaxPool{3, 2, 1, 1}));
  add("mean 3/1 padded", start().conv(20, 3).average_pool({{3, 3}, 1, 1}));
  add("mean of all", start().conv(20, 3).global_average_pool());
  add("local response norm", start().conv(20, 3).local_response_norm({5, 0.5F, 0.75F, 1.0F}));
  add("upsampled", start().conv(20, 3).upsample(2));
  add("fully connected", start().conv(20, 3).max_pool(2, 2).dense(30, relu));
  add("reorg", NetworkBuilder("reorg", {3, 12, 8}).conv(12, 3).reorg(2));
  for (const Activation activation : {linear, relu, leaky}) {
    NetworkBuilder fused = start().conv(20, 3);
    const int in = fused.last();
    fused.conv(same(20, relu)).conv(same(20, linear));
    add("sum that a convolution adds", fused.sum(in, fused.last(), activation));
    NetworkBuilder apart = start().conv(20, 3);
    const int left = apart.max_pool(MaxPool{3, 1, 1, 1}).last();
    add("sum of its own", apart.from(0).sum(left, 0, activation));
  }
  NetworkBuilder aligned = start().conv(16, 3);
  const int one = aligned.conv(24, 1).last();
  const int two = aligned.from(0).conv(8, 3).max_pool(MaxPool{3, 1, 1, 1}).last();
  add("join of aligned parts", aligned.route({one, 0, two}).conv(20, 3));
  NetworkBuilder odd = start().conv(12, 3);
  const int three = odd.conv(10, 1).last();
  add("join of odd parts, one twice", odd.route({0, three, 0}).conv(20, 3));
  NetworkBuilder branch("branch", {3, 12, 8});
  branch.conv(16, 3).max_pool(2, 2).conv(24, 3).route({0}).conv(8, 1).reorg(2);
  add("branches that join", branch.route({branch.last(), 2}).conv(20, 3));
  NetworkBuilder pictures("pictures", {9, 13, 11});
  add("three pictures", pictures.conv(20, 3));
  return cases;
}

inline std::vector<float> agreement_weights(const Network& network) {
  std::vector<float> block(static_cast<std::size_t>(weight_count(network)));
  random_weights(network, 3, block);
  return block;
}

/// Random numbers in 0..1 for `images` images.
inline std::vector<float> agreement_input(const Network& network, int images,
                                          std::uint64_t seed = 5) {
  std::vector<float> values(static_cast<std::size_t>(network.input.elements() * images));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = random_unit(seed, i);
  return values;
}

/// Largest difference of an image's result from the reference, as a part of the largest output.
inline double difference_of(const Network& network, std::span<const float> weights,
                            std::span<const float> image, std::span<const float> result) {
  const auto expected = reference_infer(network, weights, image);
  double largest = 0;
  double worst = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    largest = std::max(largest, std::abs(expected[i]));
    worst = std::max(worst, std::abs(static_cast<double>(result[i]) - expected[i]));
  }
  return worst / largest;
}

/// The largest of all images of a batch that runs on the device.
inline double difference_on(std::string_view device, const Network& network,
                            const CompileOptions& options, int images) {
  const auto weights = agreement_weights(network);
  const auto compiled = make_engine(device)->compile(network, weights, options);
  const auto input = agreement_input(network, images);
  std::ranges::copy(input, compiled->input().begin());
  compiled->infer(images);
  const auto in = static_cast<std::size_t>(network.input.elements());
  const auto out = static_cast<std::size_t>(network.output().elements());
  double worst = 0;
  for (int image = 0; image < images; ++image)
    worst =
        std::max(worst, difference_of(network, weights, std::span(input).subspan(image * in, in),
                                      compiled->output().subspan(image * out, out)));
  return worst;
}

}  // namespace doetune::workloads
