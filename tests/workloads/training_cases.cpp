#include "training_cases.h"

#include "base/random.h"

namespace doetune::workloads {
namespace {

constexpr int kClasses = 5;

class Cases {
 public:
  void add(std::string name, NetworkBuilder& net) {
    net.dense(kClasses, Activation::linear);
    cases.push_back({std::move(name), net.build(ClassificationHead{kClasses})});
  }
  std::vector<TrainingCase> cases;
};

NetworkBuilder stem(int filters, Shape input = {3, 9, 7}) {
  NetworkBuilder net("case", input);
  net.conv(filters, 3, Activation::relu);
  return net;
}

}  // namespace

std::vector<TrainingCase> training_cases() {
  using enum Activation;
  Cases all;
  NetworkBuilder normalised = stem(16);
  all.add("normalised convolution, ReLU", normalised);
  NetworkBuilder slope = stem(5);
  all.add("leaky ReLU after normalisation", slope.conv(20, 3, leaky));
  NetworkBuilder biased = stem(16);
  biased.conv({20, {3, 1}, 2, {1, 0}, relu, /*batch_norm=*/false});
  all.add("stride, flat kernel, bias and ReLU", biased);
  NetworkBuilder biased_leaky = stem(8);
  biased_leaky.conv({24, {5, 5}, 1, {2, 2}, leaky, /*batch_norm=*/false});
  all.add("bias and leaky ReLU", biased_leaky);
  NetworkBuilder wide = stem(32);
  wide.conv({48, {3, 3}, 1, {1, 1}, relu, /*batch_norm=*/false}).conv(32, 3, leaky);
  all.add("channels enough for a Winograd transform", wide);
  NetworkBuilder max = stem(20);
  all.add("max pool over the edges", max.max_pool({3, 2, 1, 1}).linear_conv(16, 1));
  NetworkBuilder darknet = stem(16);
  all.add("max pool past the right edge", darknet.max_pool(2, 1).max_pool(2, 2));
  NetworkBuilder mean = stem(20);
  all.add("average pool over the edges", mean.average_pool({{3, 3}, 2, 1}));
  NetworkBuilder response = stem(16);
  all.add("local response norm", response.local_response_norm({5, 0.5F, 0.75F, 1.0F}));
  NetworkBuilder dense = stem(16);
  all.add("two fully connected layers", dense.dense(40, relu));
  NetworkBuilder joined = stem(16);
  joined.conv(16, 1, relu).max_pool(2, 2).route({0}).max_pool({2, 2, 0, 1}).route({2, 4});
  all.add("branches that join", joined.conv(20, 3, relu).global_average_pool());
  NetworkBuilder uneven = stem(16);
  uneven.conv(7, 1, relu).route({0, 1, 0});
  all.add("a join of uneven channels, one twice", uneven.conv(16, 1, relu));
  NetworkBuilder identity = stem(16);
  identity.conv(16, 3, relu).conv(16, 3, linear);
  all.add("a residual block", identity.sum(0, identity.last()));
  NetworkBuilder projected = stem(16);
  const int shortcut = projected.conv({24, {1, 1}, 2, {0, 0}, linear, true}).last();
  projected.from(0).conv({24, {3, 3}, 2, {1, 1}, relu, true}).conv(24, 3, linear);
  all.add("a residual block with projection", projected.sum(shortcut, projected.last()));
  NetworkBuilder twice = stem(16);
  all.add("a sum of a layer with itself, leaky", twice.sum(0, 0, leaky).sum(0, 1, linear));
  NetworkBuilder big("case", {3, 31, 27});
  big.conv({16, {11, 11}, 4, {2, 2}, relu, /*batch_norm=*/false}).max_pool(MaxPool{3, 2});
  all.add("a large kernel with stride, max pool inside", big.conv(16, 3, relu));
  NetworkBuilder dropped = stem(16);
  all.add("dropout before fully connected layers",
          dropped.dense(40, relu, 0.5F).dense(24, relu, 0.25F));
  NetworkBuilder spread = stem(20);
  spread.conv({16, {3, 3}, 2, {1, 1}, relu, /*batch_norm=*/true, /*dropout=*/0.5F});
  all.add("dropout before a convolution whose input is read twice",
          spread.from(0).max_pool(2, 2).route({1, 2}));
  NetworkBuilder bottleneck("case", {3, 14, 14});
  bottleneck.conv({16, {7, 7}, 2, {3, 3}, relu}).max_pool({3, 2, 1, 1});
  const int wide_shortcut = bottleneck.conv({64, {1, 1}, 2, {0, 0}, linear}).last();
  bottleneck.from(1).conv(16, 1, relu).conv({16, {3, 3}, 2, {1, 1}, relu});
  const int expanded = bottleneck.conv({64, {1, 1}, 1, {0, 0}, linear}).last();
  all.add("a bottleneck after a stem with max pool", bottleneck.sum(wide_shortcut, expanded));
  NetworkBuilder factored = stem(16);
  const int rows =
      factored.conv({24, {1, 7}, 1, {0, 3}, relu}).conv({16, {7, 1}, 1, {3, 0}, relu}).last();
  const int mean_branch =
      factored.from(0).average_pool({{3, 3}, 1, 1}).conv({32, {1, 1}, 1, {0, 0}, relu}).last();
  all.add("factored kernels beside an average pool", factored.route({rows, mean_branch}));
  return all.cases;
}

TrainingData training_data(const Network& network, int images, std::uint64_t seed) {
  TrainingData data;
  data.parameters.resize(parameters(network));
  initial_parameters(network, seed, data.parameters);
  std::uint64_t index = 0;
  for (const ParameterTensor& tensor : parameter_layout(network))
    if (tensor.kind != ParameterKind::weights)
      for (std::int64_t i = 0; i < tensor.count; ++i)
        data.parameters[tensor.offset + i] =
            (tensor.kind == ParameterKind::scale ? 0.75F : -0.25F) +
            0.5F * random_unit(seed + 1, index++);
  data.images.resize(images * network.input.elements());
  for (float& value : data.images) value = 2.0F * random_unit(seed + 1, index++) - 1.0F;
  for (int i = 0; i < images; ++i)
    data.labels.push_back(static_cast<std::int32_t>(random_bits(seed + 1, index++) %
                                                    std::uint64_t(network.output().channels)));
  return data;
}

}  // namespace doetune::workloads
