#include "workloads/networks/weights.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <vector>

#include "base/random.h"

namespace doetune::workloads {
namespace {

struct BlockExtent {
  std::int64_t filters = 0;
  std::int64_t fan_in = 0;  // inputs x kernel height x width
  std::int64_t weights() const { return filters * fan_in; }
};

BlockExtent extent_of(const Network& network, const Layer& layer) {
  const auto* conv = std::get_if<Convolution>(&layer.op);
  if (conv == nullptr) return {};
  return {conv->filters, std::int64_t{network.shape_of(layer.inputs[0]).channels} *
                             conv->kernel.height * conv->kernel.width};
}

/// Calls visit(layer, extent, weights, bias) for every convolution with its part of the block.
template <class T, class Visit>
void for_each_convolution(const Network& network, std::span<T> block, Visit visit) {
  std::size_t at = 0;
  for (const Layer& layer : network.layers) {
    const BlockExtent extent = extent_of(network, layer);
    if (extent.filters == 0) continue;
    const auto weights = block.subspan(at, extent.weights());
    const auto bias = block.subspan(at + extent.weights(), extent.filters);
    at += extent.weights() + extent.filters;
    visit(layer, extent, weights, bias);
  }
}

class DarknetFile {
 public:
  DarknetFile(const Network& network, const std::filesystem::path& path) : path_(path) {
    if (std::filesystem::exists(path) && !std::filesystem::is_regular_file(path))
      throw WeightsError(path.string() + " is not a weights file but a directory or a device");
    in_.open(path, std::ios::binary);
    if (!in_) throw WeightsError("cannot read the weights file " + path.string());
    std::array<std::int32_t, 3> version{};
    read(version.data(), sizeof version);
    const bool wide = version[0] * 10 + version[1] >= 2 && version[0] < 1000 && version[1] < 1000;
    std::int64_t seen = 0;
    read(&seen, wide ? 8 : 4);
    check_size(network, (wide ? 20 : 16));
  }

  std::vector<float> floats(std::int64_t count) {
    std::vector<float> values(count);
    read(values.data(), values.size() * sizeof(float));
    if (!std::ranges::all_of(values, [](float value) { return std::isfinite(value); }))
      throw WeightsError("the weights file " + path_.string() +
                         " contains numbers that are not finite");
    return values;
  }

 private:
  void read(void* to, std::size_t bytes) {
    if (!in_.read(static_cast<char*>(to), static_cast<std::streamsize>(bytes)))
      throw WeightsError("the weights file " + path_.string() + " is truncated");
  }

  void check_size(const Network& network, std::int64_t header_bytes) const {
    std::int64_t floats = weight_count(network);
    for (const Layer& layer : network.layers)
      if (const auto* conv = std::get_if<Convolution>(&layer.op);
          conv != nullptr && conv->batch_norm)
        floats += 3 * conv->filters;
    const auto expected = static_cast<std::uintmax_t>(header_bytes + 4 * floats);
    const auto actual = std::filesystem::file_size(path_);
    if (actual != expected)
      throw WeightsError("the weights file " + path_.string() + " has " + std::to_string(actual) +
                         " bytes, but " + network.name + " needs " + std::to_string(expected) +
                         (actual < expected ? " (the file is truncated, or for another network)"
                                            : " (the file is for another network)"));
  }

  std::filesystem::path path_;
  std::ifstream in_;
};

}  // namespace

std::int64_t weight_count(const Network& network) {
  std::int64_t count = 0;
  for (const Layer& layer : network.layers) {
    const BlockExtent extent = extent_of(network, layer);
    count += extent.weights() + extent.filters;
  }
  return count;
}

ConvolutionWeights convolution_weights(const Network& network, std::span<const float> block,
                                       int layer) {
  ConvolutionWeights found;
  for_each_convolution(network, block,
                       [&](const Layer& each, const BlockExtent&, auto weights, auto bias) {
                         if (&each == &network.layers[layer]) found = {weights, bias};
                       });
  return found;
}

void random_weights(const Network& network, std::uint64_t seed, std::span<float> block) {
  const std::vector<int> sums = fused_sums(network);
  std::uint64_t index = 0;
  for_each_convolution(
      network, block, [&](const Layer& layer, const BlockExtent& extent, auto weights, auto bias) {
        const float slope = negative_slope(std::get<Convolution>(layer.op).activation);
        const bool summed = sums[&layer - network.layers.data()] >= 0;
        const float gain = (summed ? 0.25F : 1.0F) * 6.0F / (1.0F + slope * slope);
        const float limit = std::sqrt(gain / static_cast<float>(extent.fan_in));
        for (float& weight : weights) weight = limit * (2.0F * random_unit(seed, index++) - 1.0F);
        for (float& value : bias) value = 0.1F * (2.0F * random_unit(seed, index++) - 1.0F);
      });
}

void load_darknet_weights(const Network& network, const std::filesystem::path& file,
                          std::span<float> block) {
  DarknetFile darknet(network, file);
  for_each_convolution(network, block,
                       [&](const Layer& layer, const BlockExtent& extent, auto weights, auto bias) {
                         std::ranges::copy(darknet.floats(extent.filters), bias.begin());
                         std::vector<float> factor(extent.filters, 1.0F);
                         if (std::get<Convolution>(layer.op).batch_norm) {
                           const auto scale = darknet.floats(extent.filters);
                           const auto mean = darknet.floats(extent.filters);
                           const auto variance = darknet.floats(extent.filters);
                           for (std::int64_t f = 0; f < extent.filters; ++f) {
                             factor[f] = scale[f] / (std::sqrt(variance[f]) + 1e-6F);
                             bias[f] -= mean[f] * factor[f];
                           }
                         }
                         const auto raw = darknet.floats(extent.weights());
                         for (std::int64_t i = 0; i < extent.weights(); ++i)
                           weights[i] = raw[i] * factor[i / extent.fan_in];
                       });
}

}  // namespace doetune::workloads
