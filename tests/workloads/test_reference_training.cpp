// The reference that engines are judged by is itself judged, by finite differences and by theory.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>

#include "reference_training.h"
#include "training_cases.h"
#include "workloads/random.h"

using namespace doetune::workloads;

namespace {

constexpr int kImages = 3;
constexpr int kSampled = 12;  // of each tensor

}  // namespace

TEST_CASE("the reference's gradients are those of its loss, by central differences",
          "[reference_training]") {
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
        // Rounding 1e-16 / 1e-6 and the third derivative times 1e-12 stay well below 1e-8.
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
  // One class a filter of a 1 x 1 picture: the logits are the normalised outputs, over the images.
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
    // A normalisation forgets the size of the weights before it: their gradient is at right angles
    // to them (but for epsilon).
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
  CHECK(pass.correct == std::ranges::count(data.labels, 0));  // the first of equals
}

TEST_CASE("with the batch's own statistics as running ones, evaluation is the forward pass",
          "[reference_training]") {
  for (const TrainingCase& each : training_cases()) {
    INFO(each.name);
    const TrainingData data = training_data(each.network, kImages, 7);
    const std::vector<double> block(data.parameters.begin(), data.parameters.end());
    const ReferencePass pass = reference_gradients(each.network, block, data.images, data.labels);
    std::vector<double> statistics = pass.statistics;
    // Variances back to n in the denominator.
    std::size_t at = 0;
    for (const ParameterTensor& tensor : parameter_layout(each.network)) {
      if (tensor.kind != ParameterKind::scale) continue;
      const Shape& out = each.network.layers[tensor.layer].output;
      const double count = kImages * out.height * out.width;
      for (std::int64_t f = 0; f < tensor.count; ++f)
        statistics[at + tensor.count + f] *= (count - 1) / count;
      at += 2 * tensor.count;
    }
    const ReferencePass again =
        reference_evaluate(each.network, block, statistics, data.images, data.labels);
    CHECK(again.loss == Approx(pass.loss).epsilon(1e-12));
    CHECK(again.correct == pass.correct);
  }
}
