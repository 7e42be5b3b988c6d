#include "workloads/engines/cudnn/packed_weights.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <cstring>

#include "workloads/engines/cudnn/device_memory.h"
#include "workloads/networks/weights.h"

namespace doetune::workloads::cudnn {
namespace {

template <class T, class Convert>
std::vector<std::byte> converted(std::span<const float> numbers, Convert convert) {
  std::vector<std::byte> bytes(numbers.size() * sizeof(T));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const T value = convert(numbers[i]);
    std::memcpy(&bytes[i * sizeof(T)], &value, sizeof(T));
  }
  return bytes;
}

FilterSizes sizes_of(const Network& network, const TensorPlan& plan, int layer) {
  const Layer& node = network.layers[layer];
  const auto& conv = std::get<Convolution>(node.op);
  return {conv.filters, plan.views[layer].channels, network.shape_of(node.inputs[0]).channels,
          plan.view_of(node.inputs[0]).channels, conv.kernel};
}

std::int64_t stored(const FilterSizes& sizes) {
  return std::int64_t{sizes.padded_filters} * sizes.padded_inputs * sizes.kernel.height *
         sizes.kernel.width;
}

}  // namespace

std::vector<std::byte> rounded(std::span<const float> numbers, Precision precision) {
  if (precision == Precision::bf16)
    return converted<__nv_bfloat16>(numbers, [](float x) { return __float2bfloat16_rn(x); });
  if (precision == Precision::fp16)
    return converted<__half>(numbers, [](float x) { return __float2half_rn(x); });
  const auto bytes = std::as_bytes(numbers);
  return {bytes.begin(), bytes.end()};
}

std::vector<float> channels_last(std::span<const float> weights, const FilterSizes& sizes) {
  const std::size_t window = static_cast<std::size_t>(sizes.kernel.height) * sizes.kernel.width;
  std::vector<float> result(static_cast<std::size_t>(stored(sizes)), 0.0F);
  const float* from = weights.data();
  for (int filter = 0; filter < sizes.filters; ++filter)
    for (int input = 0; input < sizes.inputs; ++input)
      for (std::size_t at = 0; at < window; ++at)
        result[(filter * window + at) * sizes.padded_inputs + input] = *from++;
  return result;
}

PackedWeights::PackedWeights(const Network& network, const TensorPlan& plan,
                             std::span<const float> block, Precision precision, cudaStream_t stream)
    : positions_(network.layers.size()) {
  std::vector<int> layers;
  std::int64_t bytes = 0;
  const auto reserve = [&](std::int64_t numbers) {
    const std::int64_t at = bytes;
    bytes += (numbers * bytes_of(precision) + kPartAlignment - 1) / kPartAlignment * kPartAlignment;
    return at;
  };
  for (int layer = 0; layer < static_cast<int>(network.layers.size()); ++layer) {
    if (!std::holds_alternative<Convolution>(network.layers[layer].op)) continue;
    const FilterSizes sizes = sizes_of(network, plan, layer);
    positions_[layer].weights = reserve(stored(sizes));
    positions_[layer].bias = reserve(sizes.padded_filters);
    layers.push_back(layer);
  }
  storage_ = DeviceBuffer(bytes, "weights");
  const auto upload = [&](void* to, const std::vector<std::byte>& from) {
    copy_async(from.data(), to, static_cast<std::int64_t>(from.size()), stream);
  };
  for (const int layer : layers) {
    const FilterSizes sizes = sizes_of(network, plan, layer);
    const ConvolutionWeights numbers = convolution_weights(network, block, layer);
    upload(weights(layer), rounded(channels_last(numbers.weights, sizes), precision));
    std::vector<float> padded_bias(numbers.bias.begin(), numbers.bias.end());
    padded_bias.resize(static_cast<std::size_t>(sizes.padded_filters), 0.0F);
    upload(bias(layer), rounded(padded_bias, precision));
  }
}

}  // namespace doetune::workloads::cudnn
