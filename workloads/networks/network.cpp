#include "workloads/networks/network.h"

#include <algorithm>
#include <stdexcept>

#include "workloads/networks/networks.h"

namespace doetune::workloads {
namespace {

int windows(int in, int pads, int kernel, int stride) {
  if (in + pads < kernel) throw std::invalid_argument("a window is larger than its padded input");
  return (in + pads - kernel) / stride + 1;
}

Shape output_shape(const Convolution& conv, const Shape& in) {
  return {conv.filters, windows(in.height, 2 * conv.pad.height, conv.kernel.height, conv.stride),
          windows(in.width, 2 * conv.pad.width, conv.kernel.width, conv.stride)};
}

Shape output_shape(const MaxPool& pool, const Shape& in) {
  const int pads = pool.pad_before + pool.pad_after;
  return {in.channels, windows(in.height, pads, pool.kernel, pool.stride),
          windows(in.width, pads, pool.kernel, pool.stride)};
}

Shape output_shape(const AveragePool& pool, const Shape& in) {
  return {in.channels, windows(in.height, 2 * pool.pad, pool.kernel.height, pool.stride),
          windows(in.width, 2 * pool.pad, pool.kernel.width, pool.stride)};
}

Shape output_shape(const LocalResponseNorm& norm, const Shape& in) {
  if (norm.size % 2 == 0) throw std::invalid_argument("local response norm: the size is even");
  return in;
}

Shape output_shape(const Sum&, const Shape& in) { return in; }

Shape output_shape(const Upsample& upsample, const Shape& in) {
  return {in.channels, in.height * upsample.factor, in.width * upsample.factor};
}

Shape output_shape(const ChannelArgMax&, const Shape& in) { return {1, in.height, in.width}; }

Shape output_shape(const Reorg& reorg, const Shape& in) {
  const int s = reorg.stride;
  if (in.height % s != 0 || in.width % s != 0 || in.channels % (s * s) != 0)
    throw std::invalid_argument("reorg: the stride does not divide the input");
  return {in.channels * s * s, in.height / s, in.width / s};
}

Shape output_shape(const Route&, const Shape& in) { return in; }

/// The shape that a layer reads: its inputs concatenated along the channels or, of a sum, one of
/// them.
Shape joined(const Network& network, const std::vector<int>& inputs, bool summed) {
  Shape in = network.shape_of(inputs.at(0));
  for (std::size_t i = 1; i < inputs.size(); ++i) {
    const Shape& other = network.shape_of(inputs[i]);
    if (summed && other != in) throw std::invalid_argument("sum: the inputs differ in shape");
    if (other.height != in.height || other.width != in.width)
      throw std::invalid_argument("route: the inputs differ in height or width");
    if (!summed) in.channels += other.channels;
  }
  return in;
}

bool fits(const DetectionHead& head, const Network& network) {
  return network.output().channels == static_cast<int>(head.anchors.size()) * (5 + head.classes);
}
bool fits(const ClassificationHead& head, const Network& network) {
  return network.output() == Shape{head.classes, 1, 1};
}
bool fits(const HeatMapHead&, const Network& network) {
  return network.output() == Shape{1, network.input.height, network.input.width};
}
bool fits(const NoHead&, const Network&) { return true; }

}  // namespace

float negative_slope(Activation activation) {
  return activation == Activation::linear ? 1.0F
         : activation == Activation::relu ? 0.0F
                                          : kLeakySlope;
}

// -- the builder ----------------------------------------------------------------------------------

NetworkBuilder::NetworkBuilder(std::string name, Shape input) {
  network_.name = std::move(name);
  network_.input = input;
}

NetworkBuilder& NetworkBuilder::conv(Convolution convolution) { return add(convolution, {from_}); }

NetworkBuilder& NetworkBuilder::conv(int filters, int kernel, Activation activation) {
  return conv(
      {filters, {kernel, kernel}, 1, {kernel / 2, kernel / 2}, activation, /*batch_norm=*/true});
}

NetworkBuilder& NetworkBuilder::linear_conv(int filters, int kernel) {
  return conv({filters,
               {kernel, kernel},
               1,
               {kernel / 2, kernel / 2},
               Activation::linear,
               /*batch_norm=*/false});
}

NetworkBuilder& NetworkBuilder::dense(int units, Activation activation, float dropout) {
  const Shape& in = network_.shape_of(from_);
  return conv({units, {in.height, in.width}, 1, {0, 0}, activation, /*batch_norm=*/false, dropout});
}

NetworkBuilder& NetworkBuilder::max_pool(int kernel, int stride) {
  return max_pool({kernel, stride, 0, kernel - 1});
}

NetworkBuilder& NetworkBuilder::max_pool(MaxPool pool) { return add(pool, {from_}); }
NetworkBuilder& NetworkBuilder::average_pool(AveragePool pool) { return add(pool, {from_}); }

NetworkBuilder& NetworkBuilder::global_average_pool() {
  const Shape& in = network_.shape_of(from_);
  return average_pool({{in.height, in.width}});
}

NetworkBuilder& NetworkBuilder::local_response_norm(LocalResponseNorm norm) {
  return add(norm, {from_});
}

NetworkBuilder& NetworkBuilder::sum(int left, int right, Activation activation) {
  return add(Sum{activation}, {left, right});
}

NetworkBuilder& NetworkBuilder::upsample(int factor) { return add(Upsample{factor}, {from_}); }
NetworkBuilder& NetworkBuilder::channel_arg_max() { return add(ChannelArgMax{}, {from_}); }
NetworkBuilder& NetworkBuilder::reorg(int stride) { return add(Reorg{stride}, {from_}); }

NetworkBuilder& NetworkBuilder::route(std::vector<int> inputs) {
  return add(Route{}, std::move(inputs));
}

NetworkBuilder& NetworkBuilder::from(int layer) {
  from_ = layer;
  return *this;
}

NetworkBuilder& NetworkBuilder::add(decltype(Layer::op) op, std::vector<int> inputs) {
  const Shape in = joined(network_, inputs, std::holds_alternative<Sum>(op));
  const Shape out = std::visit([&](const auto& kind) { return output_shape(kind, in); }, op);
  network_.layers.push_back({std::move(op), std::move(inputs), out});
  from_ = static_cast<int>(network_.layers.size()) - 1;
  return *this;
}

Network NetworkBuilder::build(Head head) {
  const bool ends_well = !network_.layers.empty() &&
                         std::visit([&](const auto& kind) { return fits(kind, network_); }, head);
  if (!ends_well)
    throw std::invalid_argument(network_.name + ": the last layer does not fit the head");
  network_.head = std::move(head);
  return std::move(network_);
}

Network with_classes(Network network, int classes) {
  auto* head = std::get_if<ClassificationHead>(&network.head);
  if (head == nullptr) throw std::invalid_argument(network.name + " is not a classifier");
  if (classes < 2) throw std::invalid_argument("a classifier needs at least 2 classes");
  head->classes = classes;
  // The last convolution produces the logits; a pooling may follow it.
  for (auto layer = network.layers.rbegin(); layer != network.layers.rend(); ++layer) {
    layer->output.channels = classes;
    if (auto* conv = std::get_if<Convolution>(&layer->op)) {
      conv->filters = classes;
      break;
    }
  }
  return network;
}

// -- what can be read off a network ---------------------------------------------------------------

namespace {

/// Inputs of one filter: the number of its weights.
std::int64_t fan_in(const Network& network, const Layer& layer, const Convolution& conv) {
  return std::int64_t{network.shape_of(layer.inputs[0]).channels} * conv.kernel.height *
         conv.kernel.width;
}

}  // namespace

std::int64_t parameters(const Network& network) {
  std::int64_t count = 0;
  for (const Layer& layer : network.layers)
    if (const auto* conv = std::get_if<Convolution>(&layer.op))
      count += conv->filters * (fan_in(network, layer, *conv) + (conv->batch_norm ? 2 : 1));
  return count;
}

std::int64_t multiply_accumulates(const Network& network) {
  std::int64_t count = 0;
  for (const Layer& layer : network.layers)
    if (const auto* conv = std::get_if<Convolution>(&layer.op))
      count += layer.output.elements() * fan_in(network, layer, *conv);
  return count;
}

std::vector<int> readers(const Network& network) {
  std::vector<int> count(network.layers.size(), 0);
  for (const Layer& layer : network.layers)
    for (const int input : layer.inputs)
      if (input != kNetworkInput) ++count[input];
  ++count.back();
  return count;
}

std::vector<int> fused_sums(const Network& network) {
  const std::vector<int> read = readers(network);
  std::vector<int> fused(network.layers.size(), -1);
  const auto can_add = [&](int layer) {
    if (layer == kNetworkInput || read[layer] != 1) return false;
    const auto* conv = std::get_if<Convolution>(&network.layers[layer].op);
    return conv != nullptr && conv->activation == Activation::linear;
  };
  for (int layer = 0; layer < static_cast<int>(network.layers.size()); ++layer) {
    if (!std::holds_alternative<Sum>(network.layers[layer].op)) continue;
    const auto& inputs = network.layers[layer].inputs;
    const int later = std::max(inputs[0], inputs[1]);
    if (inputs[0] != inputs[1] && can_add(later)) fused[later] = layer;
  }
  return fused;
}

std::int64_t reorg_source(const Shape& input, int stride, std::int64_t index) {
  // Darknet iterates over the input's own shape and reads from a view of it that has `stride` times
  // the height and width and 1 / stride^2 of the channels.
  const std::int64_t x = index % input.width;
  const std::int64_t y = index / input.width % input.height;
  const std::int64_t channel = index / input.width / input.height;
  const std::int64_t view_channels = input.channels / (stride * stride);
  const std::int64_t offset = channel / view_channels;
  const std::int64_t view_x = x * stride + offset % stride;
  const std::int64_t view_y = y * stride + offset / stride;
  return view_x +
         input.width * stride * (view_y + input.height * stride * (channel % view_channels));
}

}  // namespace doetune::workloads
