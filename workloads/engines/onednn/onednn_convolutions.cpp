#include "workloads/engines/onednn/onednn_plan.h"

namespace doetune::workloads::onednn {
namespace {

using dnnl::memory;
using Tag = memory::format_tag;
using Type = memory::data_type;

// A Winograd convolution reads up to four times the weights of a direct one, so it pays where
// pixels are many. Measured on a Zen 5 core over the layers of tiny-yolov2: 1.1 to 2.1 times faster
// from 1000 pixels on, 0.3 to 1.1 times below; one image alone (oneDNN's smaller transform) gains
// from 100 on.
constexpr std::int64_t kWinogradPixels = 1000;
constexpr std::int64_t kWinogradPixelsOfOneImage = 100;
constexpr int kWinogradChannels = 32;

bool winograd_pays(const Convolution& conv, const Layer& node, int in_channels, int images) {
  const std::int64_t pixels = std::int64_t{images} * node.output.height * node.output.width;
  return conv.kernel == Extent{3, 3} && conv.stride == 1 && conv.pad == Extent{1, 1} &&
         in_channels >= kWinogradChannels &&
         pixels >= (images == 1 ? kWinogradPixelsOfOneImage : kWinogradPixels);
}

}  // namespace

bool is_dense(const Convolution& conv, const Shape& in) {
  return conv.kernel == Extent{in.height, in.width} && conv.pad == Extent{0, 0};
}

void Plan::add(const Convolution& conv, int layer) {
  if (is_dense(conv, network_.shape_of(network_.layers[layer].inputs[0]))) {
    add_dense(conv, layer);
    return;
  }
  const auto [chosen, activation_fused] = choose(conv, layer);
  add_weighted<dnnl::convolution_forward>(chosen, conv, layer);
  if (!activation_fused) add_activation(tensors_[layer], conv.activation);
}

/// An inner product, which oneDNN runs as one matrix product over all images.
void Plan::add_dense(const Convolution& conv, int layer) {
  const Shape& in = network_.shape_of(network_.layers[layer].inputs[0]);
  const dnnl::inner_product_forward::desc desc(
      dnnl::prop_kind::forward_inference, any(in),
      {{conv.filters, in.channels, in.height, in.width}, type_, Tag::any},
      {{conv.filters}, Type::f32, Tag::x}, {{images_, conv.filters}, type_, Tag::nc});
  add_weighted<dnnl::inner_product_forward>({desc, fused_steps(conv, layer), engine_}, conv, layer);
}

template <class Primitive>
void Plan::add_weighted(const typename Primitive::primitive_desc& chosen, const Convolution& conv,
                        int layer) {
  const Layer& node = network_.layers[layer];
  const PackedWeights packed =
      weights_.packed(layer, chosen.weights_desc(),
                      {conv.filters, network_.shape_of(node.inputs[0]).channels, conv.kernel.height,
                       conv.kernel.width});
  const Tensor source = in_layout(tensor_of(node.inputs[0]), chosen.src_desc());
  const memory::desc result = chosen.dst_desc().reshape(nchw(images_, node.output));
  tensors_[layer] = fused_sums_[layer] >= 0 ? residual(layer, result) : new_tensor(result);
  add_primitive(Primitive(chosen), {{DNNL_ARG_SRC, memory_of(source)},
                                    {DNNL_ARG_WEIGHTS, packed.weights},
                                    {DNNL_ARG_BIAS, packed.bias},
                                    {DNNL_ARG_DST, memory_of(tensors_[layer])}});
}

/// What the convolution adds its result to: the sum's other input, or a copy of it where it is
/// needed afterwards (or read by the convolution itself) or has another layout.
Plan::Tensor Plan::residual(int layer, const memory::desc& wanted) {
  const auto& inputs = network_.layers[fused_sums_[layer]].inputs;
  const int other = inputs[0] == layer ? inputs[1] : inputs[0];
  if (other != kNetworkInput && last_use_[other] == layer) {
    const Tensor last = std::move(tensors_[other]);
    constexpr int kSlotsAndLast = 2;
    if (last.desc == wanted && last.slot.use_count() == kSlotsAndLast) return last;
    tensors_[other] = last;
  }
  const Tensor copy = new_tensor(wanted);
  add_reorder(tensor_of(other), copy);
  return copy;
}

/// A fused sum's activation comes after the sum; the convolution itself has none then.
Activation Plan::activation_after(const Convolution& conv, int layer) const {
  const int sum = fused_sums_[layer];
  return sum < 0 ? conv.activation : std::get<Sum>(network_.layers[sum].op).activation;
}

dnnl::primitive_attr Plan::fused_steps(const Convolution& conv, int layer) const {
  dnnl::post_ops steps;
  if (fused_sums_[layer] >= 0) steps.append_sum(1.0F);
  append_activation(steps, activation_after(conv, layer));
  dnnl::primitive_attr attributes;
  attributes.set_post_ops(steps);
  return attributes;
}

void Plan::add_activation(const Tensor& tensor, Activation activation) {
  const dnnl::eltwise_forward::desc desc(dnnl::prop_kind::forward_inference,
                                         dnnl::algorithm::eltwise_relu, tensor.desc,
                                         negative_slope(activation));
  const memory in_place = memory_of(tensor);
  add_primitive(dnnl::eltwise_forward({desc, engine_}),
                {{DNNL_ARG_SRC, in_place}, {DNNL_ARG_DST, in_place}});
}

dnnl::convolution_forward::primitive_desc Plan::describe(
    const Convolution& conv, const Layer& node, dnnl::algorithm algorithm,
    const dnnl::primitive_attr& attributes) const {
  const Shape& in = network_.shape_of(node.inputs[0]);
  const Shape& out = node.output;
  const dnnl::convolution_forward::desc desc(
      dnnl::prop_kind::forward_inference, algorithm, any(in),
      {{conv.filters, in.channels, conv.kernel.height, conv.kernel.width}, type_, Tag::any},
      {{conv.filters}, Type::f32, Tag::x}, any(out), {conv.stride, conv.stride},
      {conv.pad.height, conv.pad.width},
      {pad_end(in.height, out.height, conv.kernel.height, conv.stride, conv.pad.height),
       pad_end(in.width, out.width, conv.kernel.width, conv.stride, conv.pad.width)});
  return {desc, attributes, engine_, true};
}

Plan::ChosenConvolution Plan::choose(const Convolution& conv, int layer) const {
  const Layer& node = network_.layers[layer];
  const dnnl::primitive_attr fused = fused_steps(conv, layer);
  if (type_ == Type::f32 &&
      winograd_pays(conv, node, network_.shape_of(node.inputs[0]).channels, images_)) {
    constexpr auto kWinograd = dnnl::algorithm::convolution_winograd;
    if (const auto winograd = describe(conv, node, kWinograd, fused)) return {winograd, true};
    // oneDNN's Winograd transforms take a ReLU, but no leaky one.
    if (fused_sums_[layer] < 0)
      if (const auto winograd = describe(conv, node, kWinograd, {})) return {winograd, false};
  }
  const auto direct = describe(conv, node, dnnl::algorithm::convolution_direct, fused);
  if (!direct) throw CannotRun("oneDNN has no convolution in this precision for this CPU");
  return {direct, true};
}

}  // namespace doetune::workloads::onednn
