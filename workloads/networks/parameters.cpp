#include "workloads/networks/parameters.h"

#include <algorithm>
#include <cmath>

#include "workloads/networks/weights.h"

namespace doetune::workloads {
namespace {

template <class T>
std::span<T> part(std::span<T> block, const ParameterTensor& tensor) {
  return block.subspan(tensor.offset, tensor.count);
}

bool normalised(const Network& network, int layer) {
  const auto* conv = std::get_if<Convolution>(&network.layers[layer].op);
  return conv != nullptr && conv->batch_norm;
}

/// The scale and shift of a batch normalisation, by filter.
struct Affine {
  std::vector<float> factor;
  std::vector<float> summand;
};

Affine affine(std::span<const float> scale, std::span<const float> shift,
              std::span<const float> mean, std::span<const float> variance) {
  Affine result{std::vector<float>(scale.size()), std::vector<float>(scale.size())};
  for (std::size_t f = 0; f < scale.size(); ++f) {
    result.factor[f] = scale[f] / std::sqrt(variance[f] + kBatchNormEpsilon);
    result.summand[f] = shift[f] - mean[f] * result.factor[f];
  }
  return result;
}

}  // namespace

std::vector<ParameterTensor> parameter_layout(const Network& network) {
  std::vector<ParameterTensor> layout;
  std::int64_t offset = 0;
  const auto add = [&](int layer, ParameterKind kind, std::int64_t count) {
    layout.push_back({layer, kind, offset, count});
    offset += count;
  };
  for (int layer = 0; layer < static_cast<int>(network.layers.size()); ++layer) {
    const auto* conv = std::get_if<Convolution>(&network.layers[layer].op);
    if (conv == nullptr) continue;
    const Shape& in = network.shape_of(network.layers[layer].inputs[0]);
    add(layer, ParameterKind::weights,
        std::int64_t{conv->filters} * in.channels * conv->kernel.height * conv->kernel.width);
    if (conv->batch_norm) add(layer, ParameterKind::scale, conv->filters);
    add(layer, conv->batch_norm ? ParameterKind::shift : ParameterKind::bias, conv->filters);
  }
  return layout;
}

std::int64_t statistics_count(const Network& network) {
  std::int64_t count = 0;
  for (const ParameterTensor& tensor : parameter_layout(network))
    if (tensor.kind == ParameterKind::scale) count += 2 * tensor.count;
  return count;
}

void initial_parameters(const Network& network, std::uint64_t seed, std::span<float> parameters) {
  std::vector<float> drawn(weight_count(network));
  random_weights(network, seed, drawn);
  const std::vector<int> sums = fused_sums(network);
  for (const ParameterTensor& tensor : parameter_layout(network)) {
    const auto values = part(parameters, tensor);
    if (tensor.kind == ParameterKind::weights)
      std::ranges::copy(convolution_weights(network, drawn, tensor.layer).weights, values.begin());
    else
      std::ranges::fill(
          values, tensor.kind == ParameterKind::scale && sums[tensor.layer] < 0 ? 1.0F : 0.0F);
  }
}

void initial_statistics(const Network& network, std::span<float> statistics) {
  std::size_t at = 0;
  for (const ParameterTensor& tensor : parameter_layout(network)) {
    if (tensor.kind != ParameterKind::scale) continue;
    std::ranges::fill(statistics.subspan(at, tensor.count), 0.0F);
    std::ranges::fill(statistics.subspan(at + tensor.count, tensor.count), 1.0F);
    at += 2 * tensor.count;
  }
}

InitialState initial_state(const Network& network, std::uint64_t seed) {
  InitialState state{std::vector<float>(static_cast<std::size_t>(parameters(network))),
                     std::vector<float>(static_cast<std::size_t>(statistics_count(network)))};
  initial_parameters(network, seed, state.parameters);
  initial_statistics(network, state.statistics);
  return state;
}

std::vector<float> folded_weights(const Network& network, std::span<const float> parameters,
                                  std::span<const float> statistics) {
  std::vector<float> block;
  block.reserve(weight_count(network));
  const auto layout = parameter_layout(network);
  const auto append = [&](auto values) { block.insert(block.end(), values.begin(), values.end()); };
  for (std::size_t i = 0; i < layout.size(); ++i) {
    const auto weights = part(parameters, layout[i]);
    const auto next = part(parameters, layout[++i]);
    if (!normalised(network, layout[i].layer)) {
      append(weights);
      append(next);
      continue;
    }
    const std::size_t filters = next.size();
    const Affine norm = affine(next, part(parameters, layout[++i]), statistics.first(filters),
                               statistics.subspan(filters, filters));
    statistics = statistics.subspan(2 * filters);
    const std::size_t fan_in = weights.size() / filters;
    for (std::size_t w = 0; w < weights.size(); ++w)
      block.push_back(weights[w] * norm.factor[w / fan_in]);
    append(norm.summand);
  }
  return block;
}

}  // namespace doetune::workloads
