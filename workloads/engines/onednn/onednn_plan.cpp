#include "workloads/engines/onednn/onednn_plan.h"

#include <algorithm>
#include <numeric>

namespace doetune::workloads::onednn {

using dnnl::memory;
using Tag = memory::format_tag;
using Type = memory::data_type;

memory::dims nchw(int images, const Shape& shape) {
  return {images, shape.channels, shape.height, shape.width};
}

memory::dim pad_end(int in, int out, int kernel, int stride, int pad) {
  return std::max(0, (out - 1) * stride + kernel - in - pad);
}

void append_activation(dnnl::post_ops& operations, Activation activation) {
  if (activation != Activation::linear)
    operations.append_eltwise(1.0F, dnnl::algorithm::eltwise_relu, negative_slope(activation),
                              0.0F);
}

Plan::Plan(const dnnl::engine& engine, const Network& network, WeightStore& weights,
           Precision precision, int images)
    : engine_(engine),
      network_(network),
      weights_(weights),
      type_(precision == Precision::bf16 ? Type::bf16 : Type::f32),
      images_(images),
      fused_sums_(fused_sums(network)) {}

void Plan::build(float* input, float* output) {
  find_last_uses();
  const auto layers = static_cast<int>(network_.layers.size());
  tensors_.resize(layers);
  const auto on_host = [&](const Shape& shape, float* data) -> Tensor {
    return {{nchw(images_, shape), Type::f32, Tag::nhwc}, std::make_shared<Slot>(Slot{0, data})};
  };
  image_ = on_host(network_.input, input);
  const Tensor result = on_host(network_.output(), output);
  for (int layer = 0; layer < layers; ++layer) {
    std::visit([&](const auto& op) { add(op, layer); }, network_.layers[layer].op);
    for (int earlier = 0; earlier < layer; ++earlier)
      if (last_use_[earlier] == layer) tensors_[earlier] = {};
  }
  add_reorder(tensors_.back(), result);
  bind();
}

void Plan::run(dnnl::stream& stream) const {
  for (const Step& step : steps_) step(stream);
  stream.wait();
}

void Plan::find_last_uses() {
  const auto layers = static_cast<int>(network_.layers.size());
  last_use_.assign(layers, 0);
  std::vector<int> step(
      layers);  // step that reads a layer's inputs: for a fused sum, its convolution's
  std::iota(step.begin(), step.end(), 0);
  for (int layer = 0; layer < layers; ++layer)
    if (fused_sums_[layer] >= 0) step[fused_sums_[layer]] = layer;
  for (int layer = 0; layer < layers; ++layer)
    for (const int input : network_.layers[layer].inputs)
      if (input != kNetworkInput) last_use_[input] = std::max(last_use_[input], step[layer]);
  for (int layer = 0; layer < layers; ++layer)  // its result lives until the sum's own step
    if (fused_sums_[layer] >= 0) last_use_[layer] = fused_sums_[layer];
  last_use_.back() = layers;
}

Plan::Tensor Plan::new_tensor(const memory::desc& desc) {
  auto slot = std::ranges::find_if(slots_, [](const auto& each) { return each.use_count() == 1; });
  if (slot == slots_.end()) slot = slots_.insert(slot, std::make_shared<Slot>());
  (*slot)->bytes = std::max((*slot)->bytes, desc.get_size());
  return {desc, *slot};
}

Plan::Tensor Plan::in_layout(const Tensor& tensor, const memory::desc& wanted) {
  if (tensor.desc == wanted) return tensor;
  const Tensor copy = new_tensor(wanted);
  add_reorder(tensor, copy);
  return copy;
}

Plan::Tensor Plan::typed(int layer) {
  const Tensor& tensor = tensor_of(layer);
  if (tensor.desc.data_type() == type_) return tensor;
  return in_layout(tensor, nhwc(network_.shape_of(layer)));
}

memory::desc Plan::any(const Shape& shape) const { return {nchw(images_, shape), type_, Tag::any}; }

memory::desc Plan::nhwc(const Shape& shape) const {
  return {nchw(images_, shape), type_, Tag::nhwc};
}

memory Plan::memory_of(const Tensor& tensor) { return part_of(tensor, tensor.desc, 0); }

memory Plan::part_of(const Tensor& tensor, const memory::desc& part, int image) {
  memory result(part, engine_, DNNL_MEMORY_NONE);
  unbound_.push_back({result, tensor.slot.get(), tensor.desc.get_size() / images_ * image});
  return result;
}

void Plan::add_primitive(dnnl::primitive primitive, Arguments arguments) {
  steps_.push_back([primitive = std::move(primitive), arguments = std::move(arguments)](
                       dnnl::stream& stream) { primitive.execute(stream, arguments); });
}

void Plan::add_reorder(const Tensor& from, const Tensor& to) {
  const dnnl::reorder::primitive_desc desc(engine_, from.desc, engine_, to.desc);
  add_primitive(dnnl::reorder(desc),
                {{DNNL_ARG_FROM, memory_of(from)}, {DNNL_ARG_TO, memory_of(to)}});
}

void Plan::bind() {
  constexpr std::size_t kAlign = 4096;
  const auto rounded = [](std::size_t bytes) { return (bytes + kAlign - 1) / kAlign * kAlign; };
  std::size_t total = 0;
  for (const auto& slot : slots_) total += rounded(slot->bytes);
  arena_ = std::make_unique<Buffer>(total);
  std::size_t offset = 0;
  for (const auto& slot : slots_) {
    slot->data = arena_->at(offset);
    offset += rounded(slot->bytes);
  }
  for (auto& [object, slot, start] : unbound_)
    object.set_data_handle(static_cast<char*>(slot->data) + start);
  unbound_.clear();
}

}  // namespace doetune::workloads::onednn
