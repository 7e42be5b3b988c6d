// Training of whole networks: gradients compared with changes of the loss.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>

#include "base/random.h"
#include "training_session.h"

using namespace doetune;
using namespace doetune::workloads;

namespace {

/// All classifiers, at the smallest size at which each layer still has an effect.
struct Whole {
  const char* name;
  int size;
  int batch;
};
constexpr Whole kWholeNetworks[] = {
    {"resnet-18", 16, 12}, {"resnet-20", 16, 12},  {"small-cnn", 16, 12},
    {"googlenet", 32, 12}, {"darknet-19", 64, 12}, {"inception-v3", 75, 12},
    {"resnet-50", 64, 12}, {"resnet-152", 64, 8},  {"alexnet", 224, 2}};

Session whole_session(const Whole& whole, Precision precision) {
  Session s = session(with_classes(make_network(whole.name, whole.size), 10),
                      options_of(whole.batch, precision), 3);
  const std::span<float> block = s.training->parameters();
  initial_parameters(s.network, 3, block);
  // The last scales of residual branches start at 0, which would leave them without a gradient.
  for (const ParameterTensor& tensor : parameter_layout(s.network))
    if (tensor.kind == ParameterKind::scale)
      for (float& scale : block.subspan(tensor.offset, tensor.count))
        if (scale == 0) scale = 0.25F;
  s.training->changed();
  return s;
}

void check_direction(const Whole& whole) {
  const Session s = whole_session(whole, Precision::fp32);
  const std::span<float> block = s.training->parameters();
  const auto start = doubles(block);
  const auto loss = s.training->gradients(whole.batch).loss;
  const auto gradient = doubles(s.training->gradients_block());
  // Each tensor's gradient, normalised to length 1, times a random factor: every tensor counts.
  std::vector<double> direction = gradient;
  double slope = 0;
  std::uint64_t index = 0;
  for (const ParameterTensor& tensor : parameter_layout(s.network)) {
    const auto part = std::span(direction).subspan(tensor.offset, tensor.count);
    double squares = 0;
    for (const double g : part) squares += g * g;
    const double factor = (0.5 + double{random_unit(1, index++)}) / std::sqrt(squares + 1e-30);
    for (double& g : part) g *= factor;
    slope += factor * squares;
  }
  // A change of the loss far above fp32's rounding, which deep normalised networks amplify, but
  // still nearly linear: the second derivative cancels.
  const double step = 5e-3 * loss / slope;
  const auto loss_at = [&](double along) {
    for (std::size_t i = 0; i < block.size(); ++i)
      block[i] = static_cast<float>(start[i] + along * direction[i]);
    s.training->changed();
    return s.training->gradients(whole.batch).loss;
  };
  INFO(whole.name);
  CHECK((loss_at(step) - loss_at(-step)) / (2 * step) == Approx(slope).epsilon(0.05));
}

}  // namespace

TEST_CASE("the whole networks' list has every classifier", "[training]") {
  for (const NetworkType& type : network_types()) {
    const Network network = make_network(type.name, type.default_height);
    const bool listed =
        std::ranges::find(kWholeNetworks, type.name, &Whole::name) != std::end(kWholeNetworks);
    INFO(type.name);
    CHECK(listed == std::holds_alternative<ClassificationHead>(network.head));
  }
}

TEST_CASE("a whole network's loss changes as its gradient says", "[training]") {
  if (no_device()) return;
  for (const Whole& whole : kWholeNetworks)
    if (whole.name != std::string_view("resnet-152")) check_direction(whole);
}

TEST_CASE("the deepest network's loss changes as its gradient says", "[training]") {
  if (no_device()) return;
  check_direction(*std::ranges::find(kWholeNetworks, std::string_view("resnet-152"), &Whole::name));
}

// Rounding to 8 bits moves the gradients of deep networks that normalise over few values far from
// those of fp32, but they remain descent directions.
TEST_CASE("in bf16 every whole network's loss falls against its gradient", "[training]") {
  if (no_device()) return;
  if (!has_bf16()) return;
  for (const Whole& whole : kWholeNetworks) {
    const Session s = whole_session(whole, Precision::bf16);
    const double loss = s.training->gradients(whole.batch).loss;
    double squares = 0;
    for (const float g : s.training->gradients_block()) squares += double{g} * double{g};
    const std::vector<float> gradient(s.training->gradients_block().begin(),
                                      s.training->gradients_block().end());
    const auto block = s.training->parameters();
    const auto step = static_cast<float>(0.1 * loss / squares);
    for (std::size_t i = 0; i < block.size(); ++i) block[i] -= step * gradient[i];
    s.training->changed();
    INFO(whole.name);
    CHECK(s.training->gradients(whole.batch).loss < 0.97 * loss);
  }
}

TEST_CASE("in bf16 the gradients of flatter networks point where those of fp32 do", "[training]") {
  if (no_device()) return;
  if (!has_bf16()) return;
  for (const char* name : {"small-cnn", "resnet-18", "googlenet"}) {
    const Whole& whole = *std::ranges::find(kWholeNetworks, std::string_view(name), &Whole::name);
    const Session exact = whole_session(whole, Precision::fp32);
    const Session rounded = whole_session(whole, Precision::bf16);
    const double loss = exact.training->gradients(whole.batch).loss;
    INFO(name);
    CHECK(rounded.training->gradients(whole.batch).loss == Approx(loss).epsilon(0.05));
    CHECK(distance(rounded.training->gradients_block(),
                   doubles(exact.training->gradients_block())) < 0.5);
  }
}
