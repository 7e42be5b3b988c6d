#include "workloads/network.h"

#include <stdexcept>

#include "workloads/networks/networks.h"

namespace doetune::workloads {
namespace {

int ceil_div(int a, int b) { return (a + b - 1) / b; }

Shape output_shape(const Convolution& conv, const Shape& in) {
  return {conv.filters, ceil_div(in.height, conv.stride), ceil_div(in.width, conv.stride)};
}

Shape output_shape(const MaxPool& pool, const Shape& in) {
  return {in.channels, ceil_div(in.height, pool.stride), ceil_div(in.width, pool.stride)};
}

Shape output_shape(const Reorg& reorg, const Shape& in) {
  const int s = reorg.stride;
  if (in.height % s != 0 || in.width % s != 0 || in.channels % (s * s) != 0)
    throw std::invalid_argument("reorg: the stride does not divide the input");
  return {in.channels * s * s, in.height / s, in.width / s};
}

Shape output_shape(const Route&, const Shape& in) { return in; }

}  // namespace

NetworkBuilder::NetworkBuilder(std::string name, Shape input) {
  network_.name = std::move(name);
  network_.input = input;
}

NetworkBuilder& NetworkBuilder::conv(int filters, int kernel, Activation activation) {
  return add(Convolution{filters, kernel, 1, activation, true}, {last()});
}

NetworkBuilder& NetworkBuilder::linear_conv(int filters, int kernel) {
  return add(Convolution{filters, kernel, 1, Activation::linear, false}, {last()});
}

NetworkBuilder& NetworkBuilder::max_pool(int kernel, int stride) {
  return add(MaxPool{kernel, stride}, {last()});
}

NetworkBuilder& NetworkBuilder::reorg(int stride) { return add(Reorg{stride}, {last()}); }

NetworkBuilder& NetworkBuilder::route(std::vector<int> inputs) {
  return add(Route{}, std::move(inputs));
}

NetworkBuilder& NetworkBuilder::add(decltype(Layer::op) op, std::vector<int> inputs) {
  Shape in = network_.shape_of(inputs.at(0));
  for (std::size_t i = 1; i < inputs.size(); ++i) {
    const Shape& other = network_.shape_of(inputs[i]);
    if (other.height != in.height || other.width != in.width)
      throw std::invalid_argument("route: the inputs differ in height or width");
    in.channels += other.channels;
  }
  const Shape out = std::visit([&](const auto& kind) { return output_shape(kind, in); }, op);
  network_.layers.push_back({std::move(op), std::move(inputs), out});
  return *this;
}

Network NetworkBuilder::build(DetectionHead head) {
  const int per_anchor = 5 + head.classes;
  if (network_.layers.empty() ||
      network_.output().channels != static_cast<int>(head.anchors.size()) * per_anchor)
    throw std::invalid_argument(network_.name + ": the last layer does not fit the detection head");
  network_.head = std::move(head);
  return std::move(network_);
}

std::int64_t parameters(const Network& network) {
  std::int64_t count = 0;
  for (const Layer& layer : network.layers)
    if (const auto* conv = std::get_if<Convolution>(&layer.op)) {
      const std::int64_t in = network.shape_of(layer.inputs[0]).channels;
      count += conv->filters * (in * conv->kernel * conv->kernel + (conv->batch_norm ? 2 : 1));
    }
  return count;
}

std::int64_t multiply_accumulates(const Network& network) {
  std::int64_t count = 0;
  for (const Layer& layer : network.layers)
    if (const auto* conv = std::get_if<Convolution>(&layer.op))
      count += layer.output.elements() * network.shape_of(layer.inputs[0]).channels * conv->kernel *
               conv->kernel;
  return count;
}

std::int64_t reorg_source(const Shape& input, int stride, std::int64_t index) {
  // Darknet walks the input's own shape and reads from a view of it that has `stride` times the
  // height and width and 1 / stride^2 of the channels.
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

std::span<const NetworkType> network_types() {
  static constexpr NetworkType kTypes[] = {
      {"tiny-yolov2", "Redmon & Farhadi (2017), Darknet yolov2-tiny-voc", networks::tiny_yolov2},
      {"yolov2", "Redmon & Farhadi (2017), Darknet yolov2 (COCO)", networks::yolov2},
  };
  return kTypes;
}

Network make_network(std::string_view name, int input_size) {
  if (input_size <= 0 || input_size % 32 != 0)
    throw std::invalid_argument("input_size must be a positive multiple of 32, not " +
                                std::to_string(input_size));
  for (const NetworkType& type : network_types())
    if (type.name == name) return type.build(input_size);
  throw std::invalid_argument("no network is called '" + std::string(name) + "'");
}

}  // namespace doetune::workloads
