#include <algorithm>

#include "workloads/engines/dropout.h"
#include "workloads/engines/onednn/onednn_plan.h"
#include "workloads/engines/onednn/onednn_training_plan.h"

namespace doetune::workloads::onednn {

using dnnl::memory;
using Tag = memory::format_tag;
using Type = memory::data_type;

void TrainingPlan::add_pool(dnnl::algorithm algorithm, int layer, Extent kernel, int stride,
                            int pad) {
  const Layer& node = network_.layers[layer];
  const Shape& in = network_.shape_of(node.inputs[0]);
  const Shape& out = node.output;
  const memory::dims strides{stride, stride};
  const memory::dims window{kernel.height, kernel.width};
  const memory::dims begin{pad, pad};
  const memory::dims end{pad_end(in.height, out.height, kernel.height, stride, pad),
                         pad_end(in.width, out.width, kernel.width, stride, pad)};
  const Tensor source = typed(node.inputs[0]);
  const dnnl::pooling_forward::primitive_desc forward(
      {dnnl::prop_kind::forward_training, algorithm, source.desc, any(out), strides, window, begin,
       end},
      engine_);
  const Tensor result = new_tensor(forward.dst_desc());
  Arguments arguments{{DNNL_ARG_SRC, source}, {DNNL_ARG_DST, result}};
  Tensor workspace;
  if (algorithm == dnnl::algorithm::pooling_max)
    arguments[DNNL_ARG_WORKSPACE] = workspace = new_tensor(forward.workspace_desc());
  add_primitive(dnnl::pooling_forward(forward), arguments);
  tensors_.push_back(result);
  add_backward_.push_back([=, this] {
    if (contributions_[layer].empty() || node.inputs[0] == kNetworkInput) return;
    const dnnl::pooling_backward::primitive_desc backward(
        {algorithm, source.desc, result.desc, strides, window, begin, end}, engine_, forward);
    const Tensor gradient = gradient_of(layer);
    const Tensor source_gradient = new_tensor(source.desc);
    Arguments back{{DNNL_ARG_DIFF_DST, gradient}, {DNNL_ARG_DIFF_SRC, source_gradient}};
    if (workspace.buffer >= 0) back[DNNL_ARG_WORKSPACE] = workspace;
    add_primitive(dnnl::pooling_backward(backward), back);
    contribute(node.inputs[0], source_gradient);
  });
}

void TrainingPlan::add(const MaxPool& pool, int layer) {
  add_pool(dnnl::algorithm::pooling_max, layer, {pool.kernel, pool.kernel}, pool.stride,
           pool.pad_before);
}

void TrainingPlan::add(const AveragePool& pool, int layer) {
  add_pool(dnnl::algorithm::pooling_avg_include_padding, layer, pool.kernel, pool.stride, pool.pad);
}

void TrainingPlan::add(const LocalResponseNorm& norm, int layer) {
  constexpr auto kAcross = dnnl::algorithm::lrn_across_channels;
  const int input = network_.layers[layer].inputs[0];
  const Tensor source = typed(input);
  const dnnl::lrn_forward::primitive_desc forward(
      {dnnl::prop_kind::forward_training, kAcross, source.desc, norm.size, norm.alpha, norm.beta,
       norm.bias},
      engine_);
  const Tensor result = new_tensor(source.desc);
  Arguments arguments{{DNNL_ARG_SRC, source}, {DNNL_ARG_DST, result}};
  Tensor workspace;
  if (forward.workspace_desc().get_size() > 0)
    arguments[DNNL_ARG_WORKSPACE] = workspace = new_tensor(forward.workspace_desc());
  add_primitive(dnnl::lrn_forward(forward), arguments);
  tensors_.push_back(result);
  add_backward_.push_back([=, this] {
    if (contributions_[layer].empty() || input == kNetworkInput) return;
    const dnnl::lrn_backward::primitive_desc backward(
        {kAcross, source.desc, source.desc, norm.size, norm.alpha, norm.beta, norm.bias}, engine_,
        forward);
    const Tensor gradient = gradient_of(layer);
    const Tensor source_gradient = new_tensor(source.desc);
    Arguments back{{DNNL_ARG_SRC, source},
                   {DNNL_ARG_DIFF_DST, gradient},
                   {DNNL_ARG_DIFF_SRC, source_gradient}};
    if (workspace.buffer >= 0) back[DNNL_ARG_WORKSPACE] = workspace;
    add_primitive(dnnl::lrn_backward(backward), back);
    contribute(input, source_gradient);
  });
}

void TrainingPlan::add(const Sum& sum, int layer) {
  const auto& inputs = network_.layers[layer].inputs;
  if (const auto by = std::ranges::find(fused_sums_, layer); by != fused_sums_.end()) {
    tensors_.push_back(tensors_[by - fused_sums_.begin()]);
    add_backward_.emplace_back([] {});
    return;
  }
  const Tensor left = typed(inputs[0]);
  const Tensor right = in_layout(typed(inputs[1]), left.desc);
  dnnl::post_ops activation;
  append_activation(activation, sum.activation);
  dnnl::primitive_attr attributes;
  attributes.set_post_ops(activation);
  const dnnl::binary::desc desc(dnnl::algorithm::binary_add, left.desc, right.desc, left.desc);
  const Tensor result = new_tensor(left.desc);
  add_primitive(dnnl::binary({desc, attributes, engine_}),
                {{DNNL_ARG_SRC_0, left}, {DNNL_ARG_SRC_1, right}, {DNNL_ARG_DST, result}});
  tensors_.push_back(result);
  add_backward_.push_back([=, this] {
    if (contributions_[layer].empty()) return;
    const Tensor gradient = activation_back(sum.activation, result, gradient_of(layer));
    for (const int input : network_.layers[layer].inputs) contribute(input, gradient);
  });
}

/// By the sign of the activation's result, which is that of its input.
TrainingPlan::Tensor TrainingPlan::activation_back(Activation activation, const Tensor& result,
                                                   const Tensor& gradient) {
  if (activation == Activation::linear) return gradient;
  constexpr auto kBack = dnnl::algorithm::eltwise_relu_use_dst_for_bwd;
  const float slope = negative_slope(activation);
  const dnnl::eltwise_forward::primitive_desc forward(
      {dnnl::prop_kind::forward_training, kBack, result.desc, slope}, engine_);
  const dnnl::eltwise_backward::primitive_desc backward({kBack, result.desc, result.desc, slope},
                                                        engine_, forward);
  const Tensor back = new_tensor(result.desc);
  add_primitive(dnnl::eltwise_backward(backward),
                {{DNNL_ARG_DST, result}, {DNNL_ARG_DIFF_DST, gradient}, {DNNL_ARG_DIFF_SRC, back}});
  return back;
}

void TrainingPlan::add(const Route&, int layer) {
  const auto& inputs = network_.layers[layer].inputs;
  if (inputs.size() == 1) {
    tensors_.push_back(typed(inputs[0]));
  } else {
    std::vector<memory::desc> descs;
    Arguments arguments;
    for (const int input : inputs) {
      const Tensor part = typed(input);
      arguments[DNNL_ARG_MULTIPLE_SRC + static_cast<int>(descs.size())] = part;
      descs.push_back(part.desc);
    }
    const dnnl::concat::primitive_desc chosen(1, descs, engine_);
    const Tensor result = new_tensor(chosen.dst_desc());
    arguments[DNNL_ARG_DST] = result;
    add_primitive(dnnl::concat(chosen), arguments);
    tensors_.push_back(result);
  }
  add_backward_.push_back([=, this] {
    if (!contributions_[layer].empty()) split_gradient(layer);
  });
}

/// Passes to each input the gradient of its channels, as a view; in a plain layout where a channel
/// block spans two inputs.
void TrainingPlan::split_gradient(int layer) {
  const Tensor gradient = gradient_of(layer);
  const auto& inputs = network_.layers[layer].inputs;
  const auto view = [&](const Tensor& whole, int first, int input) {
    return whole.desc.submemory_desc(nchw(images_, network_.shape_of(input)), {0, first, 0, 0},
                                     /*allow_empty=*/true);
  };
  int first = 0;
  for (const int input : inputs) {
    Tensor part = gradient;
    part.desc = view(gradient, first, input);
    if (!part.desc) {
      part = in_layout(gradient, {nchw(images_, network_.layers[layer].output), type_, Tag::nchw});
      part.desc = view(part, first, input);
    }
    if (input != kNetworkInput) contribute(input, in_layout(part, tensors_[input].desc));
    first += network_.shape_of(input).channels;
  }
}

/// Applies dropout to the input of a layer or, with the same random factors, to the gradient on the
/// way back.
TrainingPlan::Tensor TrainingPlan::dropped(const Convolution& conv, int layer,
                                           const Tensor& tensor) {
  if (conv.dropout == 0) return tensor;
  const Shape& in = network_.shape_of(network_.layers[layer].inputs[0]);
  const memory::desc plain(nchw(images_, in), Type::f32, Tag::nhwc);
  const Tensor whole = in_layout(tensor, plain);
  const Tensor rest = new_tensor(plain);
  const auto draw = [this, layer = options_.first_layer + layer, elements = in.elements(),
                     count = images_ * in.elements(), p = conv.dropout, from = memory_of(whole),
                     to = memory_of(rest)](dnnl::stream& stream) {
    stream.wait();
    const auto* values = static_cast<const float*>(from.get_data_handle());
    auto* kept = static_cast<float*>(to.get_data_handle());
    const std::uint64_t key = dropout_key(options_.seed, *buffers_.updates, layer);
    const std::int64_t first = *buffers_.first_image * elements;
#pragma omp parallel for simd
    for (std::int64_t i = 0; i < count; ++i)
      kept[i] = values[i] * dropout_factor(key, static_cast<std::uint64_t>(first + i), p);
  };
  steps_.push_back(draw);
  return in_layout(rest, {nchw(images_, in), type_, Tag::nhwc});
}

}  // namespace doetune::workloads::onednn
