// The training reference itself, verified by finite differences and theory.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>

#include "base/random.h"
#include "reference_training.h"
#include "training_cases.h"
#include "workloads/engines/dropout.h"

using namespace doetune;
using namespace doetune::workloads;

namespace {

constexpr int kImages = 3;
constexpr int kSampled = 4;  // elements of each tensor

Network without_dropout(Network network) {
  for (Layer& layer : network.layers)
    if (auto* conv = std::get_if<Convolution>(&layer.op)) conv->dropout = 0;
  return network;
}

}  // namespace

TEST_CASE("the reference's gradients are those of its loss, by central differences",
          "[reference_training][long]") {
  for (const TrainingCase& each : training_cases()) {
    const TrainingData data = training_data(each.network, kImages, 11);
    std::vector<double> parameters(data.parameters.begin(), data.parameters.end());
    const auto loss = [&] {
      return reference_gradients(each.network, parameters, data.images, data.labels).loss;
    };
    const auto gradients =
        reference_gradients(each.network, parameters, data.images, data.labels).gradients;
    for (const ParameterTensor& tensor : parameter_layout(each.network))
      for (int i = 0; i < std::min<std::int64_t>(kSampled, tensor.count); ++i) {
        const std::int64_t at = tensor.offset + random_bits(i, 5) % std::uint64_t(tensor.count);
        INFO(each.name << ", layer " << tensor.layer << ", parameter " << at);
        // Rounding (1e-16 / 1e-6) and the third derivative times 1e-12 stay well below 1e-8.
        constexpr double kStep = 1e-6;
        const double value = parameters[at];
        parameters[at] = value + kStep;
        const double above = loss();
        parameters[at] = value - kStep;
        const double below = loss();
        parameters[at] = value;
        CHECK(gradients[at] == Approx((above - below) / (2 * kStep)).epsilon(1e-5).margin(1e-8));
      }
  }
}

TEST_CASE("normalised outputs have the mean and variance that scale and shift say",
          "[reference_training]") {
  // One class per filter of a 1 x 1 image: the logits are the outputs normalised over the images.
  NetworkBuilder builder("normalised", {6, 1, 1});
  const Network net =
      builder.conv({4, {1, 1}, 1, {0, 0}, Activation::linear, true}).build(ClassificationHead{4});
  constexpr int kMany = 50;
  const TrainingData data = training_data(net, kMany, 3);
  const std::vector<double> block(data.parameters.begin(), data.parameters.end());
  const ReferencePass pass = reference_gradients(net, block, data.images, data.labels);
  double shift_gradients = 0;
  for (int f = 0; f < 4; ++f) {
    double sum = 0;
    double squares = 0;
    for (int n = 0; n < kMany; ++n) sum += pass.logits[n * 4 + f] / kMany;
    for (int n = 0; n < kMany; ++n) squares += std::pow(pass.logits[n * 4 + f] - sum, 2) / kMany;
    const double scale = block[24 + f];
    const double variance = pass.statistics[4 + f] * (kMany - 1) / kMany;
    CHECK(sum == Approx(block[28 + f]));
    CHECK(squares == Approx(scale * scale * variance / (variance + 1e-5)));
    // Normalisation makes the output invariant to the scale of the preceding weights, so their
    // gradient is orthogonal to them (up to epsilon).
    double along = 0;
    double length = 0;
    for (int c = 0; c < 6; ++c) {
      along += pass.gradients[f * 6 + c] * block[f * 6 + c];
      length += std::abs(pass.gradients[f * 6 + c] * block[f * 6 + c]);
    }
    CHECK(std::abs(along) < 1e-3 * length);
    shift_gradients += pass.gradients[28 + f];
  }
  // Softmax: the gradients of an image's logits sum to zero.
  CHECK(shift_gradients == Approx(0).margin(1e-14));
}

TEST_CASE("the loss of equal logits is the logarithm of the number of classes",
          "[reference_training]") {
  const Network net = training_cases()[0].network;
  const TrainingData data = training_data(net, kImages, 3);
  const std::vector<double> zeros(data.parameters.size(), 0.0);
  const ReferencePass pass = reference_gradients(net, zeros, data.images, data.labels);
  CHECK(pass.loss == Approx(std::log(5.0)));
  CHECK(pass.correct == std::ranges::count(data.labels, 0));  // the first of ties
}

TEST_CASE("with the batch's own statistics as running ones, evaluation is the forward pass",
          "[reference_training]") {
  for (const TrainingCase& each : training_cases()) {
    INFO(each.name);
    const Network network = without_dropout(each.network);
    const TrainingData data = training_data(network, kImages, 7);
    const std::vector<double> block(data.parameters.begin(), data.parameters.end());
    const ReferencePass pass = reference_gradients(network, block, data.images, data.labels);
    std::vector<double> statistics = pass.statistics;
    // Convert the variances to n in the denominator.
    std::size_t at = 0;
    for (const ParameterTensor& tensor : parameter_layout(network)) {
      if (tensor.kind != ParameterKind::scale) continue;
      const Shape& out = network.layers[tensor.layer].output;
      const double count = kImages * out.height * out.width;
      for (std::int64_t f = 0; f < tensor.count; ++f)
        statistics[at + tensor.count + f] *= (count - 1) / count;
      at += 2 * tensor.count;
    }
    const ReferencePass again =
        reference_evaluate(network, block, statistics, data.images, data.labels);
    CHECK(again.loss == Approx(pass.loss).epsilon(1e-12));
    CHECK(again.correct == pass.correct);
  }
}

TEST_CASE("dropout keeps its fraction, keeps the mean, and draws anew", "[reference_training]") {
  constexpr int kCount = 100'000;
  for (const float p : {0.25F, 0.5F}) {
    const std::uint64_t key = dropout_key(7, 3, 2);
    double sum = 0;
    for (int i = 0; i < kCount; ++i) {
      const float factor = dropout_factor(key, i, p);
      if (factor != 0.0F && factor != 1.0F / (1.0F - p)) FAIL("factor " << factor);
      sum += double{factor};
    }
    // Five standard deviations of a binomial proportion, over 1 - p.
    CHECK(sum / kCount == Approx(1.0).margin(5 * std::sqrt(p / (1 - p) / kCount)));
  }
  // Independent draws with probability 1/2 agree in half of the cases: 50 % +- 5 x 0.16 %.
  const std::uint64_t one = dropout_key(7, 3, 2);
  for (const std::uint64_t other :
       {dropout_key(8, 3, 2), dropout_key(7, 4, 2), dropout_key(7, 3, 3), dropout_key(3, 7, 2)}) {
    int same = 0;
    for (int i = 0; i < kCount; ++i)
      same += dropout_factor(one, i, 0.5F) == dropout_factor(other, i, 0.5F) ? 1 : 0;
    CHECK(same == Approx(kCount / 2.0).margin(5 * std::sqrt(kCount) / 2));
  }
}

TEST_CASE("images of a batch that is shared out are dropped as in one process",
          "[reference_training]") {
  const auto cases = training_cases();
  const Network network =
      std::ranges::find(cases, "dropout before fully connected layers", &TrainingCase::name)
          ->network;
  // Without batch normalisation images are independent of each other.
  Network separate = network;
  std::get<Convolution>(separate.layers[0].op).batch_norm = false;
  const TrainingData data = training_data(separate, 5, 3);
  const std::vector<double> block(data.parameters.begin(), data.parameters.end());
  const auto pixels = static_cast<std::size_t>(separate.input.elements());
  const auto logits = [&](int first, int count) {
    return reference_gradients(separate, block,
                               std::span(data.images).subspan(first * pixels, count * pixels),
                               std::span(data.labels).subspan(first, count), {1, 0, first})
        .logits;
  };
  const auto whole = logits(0, 5);
  auto parts = logits(0, 2);
  const auto rest = logits(2, 3);
  parts.insert(parts.end(), rest.begin(), rest.end());
  CHECK(parts == whole);
  const ReferencePass other =
      reference_gradients(separate, block, data.images, data.labels, {1, 1, 0});
  CHECK(other.logits != whole);
}
