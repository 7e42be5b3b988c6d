#include "evaluated_network.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <random>

#include "base/random.h"
#include "reference.h"
#include "workloads/networks/weights.h"

namespace doetune::workloads {
namespace {

double largest_of(const std::vector<double>& values) {
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  return largest;
}

double worst_difference(std::span<const float> actual, const std::vector<double>& expected) {
  double worst = 0;
  for (std::size_t i = 0; i < expected.size(); ++i)
    worst = std::max(worst, std::abs(actual[i] - expected[i]));
  return worst;
}

double worst_shortfall(std::span<const float> chosen, const std::vector<double>& values) {
  const std::size_t channels = values.size() / chosen.size();
  double worst = 0;
  for (std::size_t pixel = 0; pixel < chosen.size(); ++pixel) {
    const auto first = values.begin() + static_cast<std::ptrdiff_t>(pixel * channels);
    if (chosen[pixel] < 0 || chosen[pixel] >= static_cast<float>(channels)) return INFINITY;
    const double largest = *std::max_element(first, first + static_cast<std::ptrdiff_t>(channels));
    worst = std::max(worst, largest - *(first + static_cast<std::ptrdiff_t>(chosen[pixel])));
  }
  return worst;
}

}  // namespace

std::uint64_t test_seed() {
  static const std::uint64_t seed = [] {
    const char* given = std::getenv("DOETUNE_TEST_SEED");
    return given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  }();
  return seed;
}

Network cut_after(const Network& network, int last) {
  Network cut = network;
  cut.layers.resize(last + 1);
  return cut;
}

EvaluatedNetwork::EvaluatedNetwork(Network network, int images, std::uint64_t seed)
    : network_(std::move(network)),
      images_(images),
      weights_(weight_count(network_)),
      input_(images * network_.input.elements()) {
  random_weights(network_, seed, weights_);
  for (std::size_t i = 0; i < input_.size(); ++i) input_[i] = random_unit(seed + 1, i);
  const auto elements = static_cast<std::size_t>(network_.input.elements());
  for (int image = 0; image < images; ++image)
    expected_.push_back(reference_layers(network_, weights_,
                                         std::span(input_).subspan(image * elements, elements)));
}

double EvaluatedNetwork::difference(Engine& engine, const CompileOptions& options, int last) const {
  const Network cut = cut_after(network_, last);
  const auto compiled = engine.compile(cut, std::span(weights_).first(weight_count(cut)), options);
  std::ranges::copy(input_, compiled->input().begin());
  compiled->infer(images_);
  const auto elements = static_cast<std::size_t>(cut.output().elements());
  const bool chooses = std::holds_alternative<ChannelArgMax>(cut.layers.back().op);
  double worst = 0;
  double largest = 0;
  for (int image = 0; image < images_; ++image) {
    const auto actual = compiled->output().subspan(image * elements, elements);
    if (!std::ranges::all_of(actual, [](float value) { return std::isfinite(value); }))
      return INFINITY;
    const auto& expected = expected_[image][chooses ? cut.layers.back().inputs[0] : last];
    worst = std::max(
        worst, chooses ? worst_shortfall(actual, expected) : worst_difference(actual, expected));
    largest = std::max(largest, largest_of(expected));
  }
  return worst / largest;
}

double EvaluatedNetwork::difference(Engine& engine, const CompileOptions& options) const {
  return difference(engine, options, static_cast<int>(network_.layers.size()) - 1);
}

}  // namespace doetune::workloads
