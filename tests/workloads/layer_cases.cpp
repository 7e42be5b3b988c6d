#include "layer_cases.h"

#include <utility>

namespace doetune::workloads {
namespace {

using enum Activation;
using Builder = NetworkBuilder;

constexpr Shape kImage{3, 13, 11};

/// A network whose last layer has this many channels; the boxes of its head are not used.
template <class Add>
LayerCase layers(std::string name, int channels, Add add, const Shape& input = kImage) {
  Builder net("case", input);
  add(net);
  return {std::move(name), net.build(DetectionHead{{{1.0F, 1.0F}}, channels - 5})};
}

Convolution conv(int filters, Extent kernel, int stride, Extent pad, Activation activation = relu) {
  return {filters, kernel, stride, pad, activation, true};
}

std::vector<LayerCase> convolutions() {
  return {
      layers("3x3, leaky", 20, [](Builder& net) { net.conv(20, 3); }),
      layers("1x1, linear", 25, [](Builder& net) { net.conv(16, 3).linear_conv(25, 1); }),
      layers("7x7 by 2, ReLU", 24,
             [](Builder& net) {
               net.conv(conv(24, {7, 7}, 2, {3, 3}));
             }),
      layers("7x7 by 2 of an even size", 16,
             [](Builder& net) {
               net.conv(conv(16, {7, 7}, 2, {3, 3}));
             },
             {3, 12, 14}),
      layers("11x11 by 4, not to the end", 17,
             [](Builder& net) {
               net.conv(conv(17, {11, 11}, 4, {2, 2}));
             },
             {3, 30, 26}),
      layers("1x7, then 7x1", 40,
             [](Builder& net) {
               net.conv(24, 1).conv(conv(33, {1, 7}, 1, {0, 3})).conv(conv(40, {7, 1}, 1, {3, 0}));
             }),
      layers("1x3, then 3x1 by 2 without padding", 32,
             [](Builder& net) {
               net.conv(conv(16, {1, 3}, 1, {0, 1})).conv(conv(32, {3, 1}, 2, {0, 0}));
             }),
      layers("3x3 without padding, by 2", 48,
             [](Builder& net) {
               net.conv(32, 3, relu).conv(conv(48, {3, 3}, 2, {0, 0}));
             }),
      layers("5x5", 32, [](Builder& net) { net.conv(16, 1).conv(32, 5, relu); }),
      layers("1x1 by 2", 64,
             [](Builder& net) {
               net.conv(32, 3, relu).conv(conv(64, {1, 1}, 2, {0, 0}, linear));
             }),
      layers("nine channels in", 16, [](Builder& net) { net.conv(16, 3, relu); }, {9, 9, 16}),
      layers("fully connected", 37,
             [](Builder& net) { net.conv(20, 3).dense(50, relu).dense(37, linear); }),
      layers("fully connected, to the image", 48, [](Builder& net) { net.dense(48, leaky); }),
      // Large enough for the Winograd path; its tiles of 2 or 4 pixels do not fit odd sizes.
      layers("Winograd", 64,
             [](Builder& net) {
               net.conv(32, 3, relu).conv(48, 3, relu).max_pool(2, 2).conv(64, 3);
               net.conv(64, 3, linear);
             },
             {3, 33, 34}),
      layers("Winograd without padding, leaky", 40,
             [](Builder& net) {
               net.conv(24, 3).conv(conv(40, {3, 3}, 1, {0, 0}, leaky));
             },
             {3, 19, 22}),
      layers("Winograd over blocks of pixels", 24,
             [](Builder& net) {
               net.conv(conv(24, {11, 11}, 4, {2, 2}, leaky));
             },
             {3, 45, 50}),
  };
}

std::vector<LayerCase> pools() {
  const auto pooled = [](MaxPool pool) {
    return [pool](Builder& net) { net.conv(20, 3).max_pool(pool); };
  };
  const auto averaged = [](AveragePool pool) {
    return [pool](Builder& net) { net.conv(20, 3).average_pool(pool); };
  };
  return {
      layers("maximum 2/2 of an odd size", 20,
             [](Builder& net) { net.conv(20, 3).max_pool(2, 2); }),
      layers("maximum 2/1", 16, [](Builder& net) { net.conv(16, 3).max_pool(2, 1); }),
      layers("maximum 3/2, rounded up", 20, pooled({3, 2, 0, 1}), {3, 12, 14}),
      layers("maximum 3/2, rounded down", 20, pooled({3, 2}), {3, 12, 14}),
      layers("maximum 3/2, padded", 20, pooled({3, 2, 1, 1})),
      layers("maximum 3/1, padded", 20, pooled({3, 1, 1, 1})),
      layers("maximum of the image", 24,
             [](Builder& net) {
               net.max_pool({3, 2, 1, 1}).conv(24, 3, relu);
             }),
      layers("mean 3/1, padded", 20, averaged({{3, 3}, 1, 1})),
      layers("mean 3/2, not to the end", 20, averaged({{3, 3}, 2, 0}), {3, 12, 14}),
      layers("mean 2x3", 20, averaged({{2, 3}, 1, 0})),
      layers("mean of everything", 20, [](Builder& net) { net.conv(20, 3).global_average_pool(); }),
      layers("mean of the image", 16,
             [](Builder& net) {
               net.average_pool({{3, 3}, 2, 1}).conv(16, 1);
             }),
  };
}

std::vector<LayerCase> other_layers() {
  // Large factors, so that the sum over neighbours matters; the usual 1e-4 would hide errors.
  const auto normalised = [](LocalResponseNorm norm, int channels) {
    return [norm, channels](Builder& net) { net.conv(channels, 3).local_response_norm(norm); };
  };
  return {
      layers("response norm", 20, normalised({5, 2.0F, 0.75F, 1.0F}, 20)),
      layers("response norm, 64 channels", 64, normalised({5, 2.0F, 0.75F, 1.0F}, 64)),
      layers("response norm over 3", 32, normalised({3, 1.0F, 0.5F, 2.0F}, 32)),
      layers("upsampling by 2", 20, [](Builder& net) { net.conv(20, 3).upsample(2); }),
      layers("upsampling by 3", 32, [](Builder& net) { net.conv(32, 3, relu).upsample(3); }),
      layers("upsampling of the image", 16, [](Builder& net) { net.upsample(2).conv(16, 3); }),
      layers("reorg", 48, [](Builder& net) { net.conv(12, 3).reorg(2); }, {3, 12, 8}),
  };
}

std::vector<LayerCase> sums() {
  return {
      layers("sum of two convolutions", 32,
             [](Builder& net) {
               const int left = net.conv(16, 3, relu).conv(32, 1, linear).last();
               net.sum(left, net.from(0).conv(32, 3, linear).last());
             }),
      layers("sum that is used twice", 20,
             [](Builder& net) {
               const int in = net.conv(20, 3, relu).last();
               const int one = net.conv(20, 3, relu).conv(20, 1, linear).last();
               const int sum = net.sum(in, one).last();
               net.sum(sum, net.conv(20, 3, linear).last());
               net.sum(net.last(), sum, linear);
             }),
      layers("input read once more before the sum's turn", 24,
             [](Builder& net) {
               const int in = net.conv(24, 3, relu).last();
               const int branch = net.conv(24, 3, linear).last();
               const int late = net.from(in).conv(24, 3, relu).last();
               net.sum(in, branch);
               net.sum(net.last(), late, leaky);
             }),
      layers("sum that its convolution's input goes into", 32,
             [](Builder& net) {
               const int in = net.conv(32, 3, relu).last();
               net.sum(in, net.conv(32, 3, linear).last());
             }),
      layers("sum of activated convolutions", 20,
             [](Builder& net) {
               const int in = net.conv(20, 3, relu).last();
               net.sum(in, net.conv(20, 3, leaky).last(), leaky);
             }),
      layers("sum of one layer with itself", 16,
             [](Builder& net) {
               net.conv(16, 3, linear);
               net.sum(net.last(), net.last());
             }),
      layers("sum with the image", 8,
             [](Builder& net) {
               const int three = net.conv(9, 3, relu).conv(3, 1, linear).last();
               net.sum(kNetworkInput, three).conv(8, 1, linear);
             }),
      layers("sum of fully connected layers", 30,
             [](Builder& net) {
               const int in = net.dense(30, relu).last();
               net.sum(in, net.dense(30, relu).dense(30, linear).last());
             }),
      layers("sum after pooling and branching back", 48,
             [](Builder& net) {
               const int pool = net.conv(48, 3, relu).max_pool(2, 2).last();
               const int back = net.route({pool}).last();
               net.sum(back, net.from(pool).conv(48, 3, linear).last(), linear);
             }),
      layers("sum on the Winograd path", 32,
             [](Builder& net) {
               const int in = net.conv(32, 3, relu).last();
               const int one = net.conv(32, 3, relu).conv(32, 3, linear).last();
               net.sum(in, one).conv(32, 3, relu);
             },
             {3, 33, 34}),
  };
}

std::vector<LayerCase> joins() {
  return {
      layers("join of branches", 30,
             [](Builder& net) {
               net.conv(16, 3).max_pool(2, 2).conv(24, 3).route({0}).conv(8, 1).reorg(2);
               net.route({net.last(), 2}).conv(20, 3).linear_conv(30, 1);
             },
             {3, 12, 8}),
      layers("join of odd channels", 43,
             [](Builder& net) {
               const int in = net.conv(16, 3, relu).last();
               const int a = net.conv(20, 1, relu).last();
               const int b = net.from(in).conv(7, 3, relu).last();
               net.route({a, b, in});
             }),
      layers("join of full vectors, one of them read again", 64,
             [](Builder& net) {
               const int in = net.conv(16, 3, relu).last();
               const int a = net.conv(32, 3, relu).last();
               const int b = net.from(in).conv(48, 1, relu).last();
               const int pool = net.from(in).max_pool({3, 1, 1, 1}).conv(32, 1, relu).last();
               const int all = net.route({a, b, pool}).last();
               const int again = net.from(a).conv(64, 3, relu).last();
               net.sum(again, net.from(all).conv(64, 1, linear).last());
             }),
      layers("join of joins, and with the image", 38,
             [](Builder& net) {
               const int a = net.conv(16, 3, relu).last();
               const int inner = net.route({a, kNetworkInput}).last();
               net.route({inner, a, kNetworkInput});
             }),
      layers("join of one layer with itself", 40,
             [](Builder& net) {
               net.conv(20, 3, relu).route({0, 0});
             }),
  };
}

}  // namespace

std::vector<LayerCase> layer_cases() {
  std::vector<LayerCase> all;
  for (auto part : {convolutions, pools, other_layers, sums, joins})
    for (LayerCase& each : part()) all.push_back(std::move(each));
  return all;
}

}  // namespace doetune::workloads
