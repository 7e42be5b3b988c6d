#include <algorithm>

#include "workloads/engines/onednn/onednn_plan.h"
#include "workloads/engines/onednn/onednn_training_plan.h"

namespace doetune::workloads::onednn {
namespace {

using dnnl::memory;
using Tag = memory::format_tag;
using Type = memory::data_type;

// A Winograd transform needs fewer multiplications, but pays only where channels fill its matrix
// products. Measured on a Zen 5 core, batch 32, 3 x 3 in fp32: 0.6 to 0.75 times the speed of the
// direct convolution at 16 channels, 1.4 at 32, 1.7 at 64 (8 x 8 pixels), 2 to 4 above.
constexpr int kWinogradChannels = 32;

/// `convolution_auto` is Winograd where oneDNN has one.
dnnl::algorithm algorithm_for(const Convolution& conv, const Shape& in) {
  return std::min(in.channels, conv.filters) >= kWinogradChannels
             ? dnnl::algorithm::convolution_auto
             : dnnl::algorithm::convolution_direct;
}

memory::desc vector_of(std::int64_t count) { return {{count}, Type::f32, Tag::x}; }

memory::desc bias_of(const Convolution& conv) {
  return conv.batch_norm ? memory::desc() : vector_of(conv.filters);
}

memory::dims weight_dims(const Convolution& conv, const Shape& in) {
  return {conv.filters, in.channels, conv.kernel.height, conv.kernel.width};
}

/// Without batch normalisation the activation is part of the convolution.
dnnl::primitive_attr fused_activation(const Convolution& conv) {
  dnnl::post_ops operations;
  if (!conv.batch_norm) append_activation(operations, conv.activation);
  dnnl::primitive_attr attributes;
  attributes.set_post_ops(operations);
  return attributes;
}

dnnl::normalization_flags flags_of(const Convolution& conv) {
  using enum dnnl::normalization_flags;
  return conv.activation == Activation::relu ? use_scale_shift | fuse_norm_relu : use_scale_shift;
}

}  // namespace

std::vector<TrainingPlan::Learned> TrainingPlan::places(const Network& network) {
  std::vector<Learned> result(network.layers.size());
  std::int64_t statistics = 0;
  for (const ParameterTensor& tensor : parameter_layout(network)) {
    Learned& learned = result[tensor.layer];
    if (tensor.kind == ParameterKind::weights) {
      learned.weights = tensor.offset;
      learned.others = tensor.offset + tensor.count;
      learned.statistics = statistics;
    } else if (tensor.kind == ParameterKind::scale) {
      statistics += 2 * tensor.count;
    }
  }
  return result;
}

TrainingPlan::WeightedPasses TrainingPlan::convolution(const Convolution& conv, int layer) const {
  const Layer& node = network_.layers[layer];
  const Shape& in = network_.shape_of(node.inputs[0]);
  const Shape& out = node.output;
  const dnnl::algorithm algorithm = algorithm_for(conv, in);
  const memory::dims dims = weight_dims(conv, in);
  const memory::desc weights(dims, type_, Tag::any);
  const memory::dims strides{conv.stride, conv.stride};
  const memory::dims begin{conv.pad.height, conv.pad.width};
  const memory::dims end{
      pad_end(in.height, out.height, conv.kernel.height, conv.stride, conv.pad.height),
      pad_end(in.width, out.width, conv.kernel.width, conv.stride, conv.pad.width)};
  const dnnl::convolution_forward::primitive_desc forward(
      {dnnl::prop_kind::forward_training, algorithm, any(in), weights, bias_of(conv), any(out),
       strides, begin, end},
      fused_activation(conv), engine_);
  const dnnl::convolution_backward_data::primitive_desc data(
      {algorithm, any(in), weights, any(out), strides, begin, end}, engine_, forward);
  const dnnl::convolution_backward_weights::primitive_desc learning({algorithm,
                                                                     any(in),
                                                                     {dims, Type::f32, Tag::any},
                                                                     bias_of(conv),
                                                                     any(out),
                                                                     strides,
                                                                     begin,
                                                                     end},
                                                                    engine_, forward);
  return {{dnnl::convolution_forward(forward), forward.src_desc(), forward.weights_desc(),
           forward.dst_desc()},
          {dnnl::convolution_backward_data(data), data.diff_src_desc(), data.weights_desc(),
           data.diff_dst_desc()},
          {dnnl::convolution_backward_weights(learning), learning.src_desc(),
           learning.diff_weights_desc(), learning.diff_dst_desc()}};
}

TrainingPlan::WeightedPasses TrainingPlan::inner_product(const Convolution& conv, int layer) const {
  const Shape& in = network_.shape_of(network_.layers[layer].inputs[0]);
  const memory::dims dims = weight_dims(conv, in);
  const memory::desc weights(dims, type_, Tag::any);
  const memory::desc result({images_, conv.filters}, type_, Tag::nc);
  const dnnl::inner_product_forward::primitive_desc forward(
      {dnnl::prop_kind::forward_training, any(in), weights, bias_of(conv), result},
      fused_activation(conv), engine_);
  const dnnl::inner_product_backward_data::primitive_desc data({any(in), weights, result}, engine_,
                                                               forward);
  const dnnl::inner_product_backward_weights::primitive_desc learning(
      {any(in), {dims, Type::f32, Tag::any}, bias_of(conv), result}, engine_, forward);
  return {{dnnl::inner_product_forward(forward), forward.src_desc(), forward.weights_desc(),
           forward.dst_desc()},
          {dnnl::inner_product_backward_data(data), data.diff_src_desc(), data.weights_desc(),
           data.diff_dst_desc()},
          {dnnl::inner_product_backward_weights(learning), learning.src_desc(),
           learning.diff_weights_desc(), learning.diff_dst_desc()}};
}

TrainingPlan::Tensor TrainingPlan::weights_of(const Convolution& conv, int layer,
                                              float* block) const {
  const Shape& in = network_.shape_of(network_.layers[layer].inputs[0]);
  return {{weight_dims(conv, in), Type::f32, Tag::oihw}, -1, block + learned_[layer].weights};
}

/// The bias, or scale and shift as two rows.
TrainingPlan::Tensor TrainingPlan::others_of(const Convolution& conv, int layer,
                                             float* block) const {
  const memory::desc two_rows({2, conv.filters}, Type::f32, Tag::nc);
  return {conv.batch_norm ? two_rows : vector_of(conv.filters), -1, block + learned_[layer].others};
}

void TrainingPlan::add(const Convolution& conv, int layer) {
  const Layer& node = network_.layers[layer];
  const int input = node.inputs[0];
  const WeightedPasses passes = is_dense(conv, network_.shape_of(input))
                                    ? inner_product(conv, layer)
                                    : convolution(conv, layer);
  const Tensor source =
      in_layout(dropped(conv, layer, input == kNetworkInput ? image_ : tensors_[input]),
                passes.forward.source);
  Arguments arguments{{DNNL_ARG_SRC, source},
                      {DNNL_ARG_WEIGHTS, in_layout(weights_of(conv, layer, buffers_.parameters),
                                                   passes.forward.weights)}};
  if (!conv.batch_norm) arguments[DNNL_ARG_BIAS] = others_of(conv, layer, buffers_.parameters);
  const Tensor product = new_tensor(passes.forward.result);
  arguments[DNNL_ARG_DST] = product;
  add_primitive(passes.forward.primitive, arguments);

  Tensor result = product;
  result.desc = result.desc.reshape(nchw(images_, node.output));
  Normalisation normalisation;
  if (conv.batch_norm) {
    normalisation = add_normalisation(conv, layer, result);
    result = normalisation.result;
  }
  tensors_.push_back(result);
  add_backward_.push_back([=, this] {
    if (contributions_[layer].empty()) return;
    Tensor gradient = gradient_of(layer);
    if (!conv.batch_norm || conv.activation == Activation::leaky)
      gradient = activation_back(conv.activation, result, gradient);
    if (conv.batch_norm) gradient = normalisation_back(conv, layer, normalisation, gradient);
    gradient.desc = gradient.desc.reshape(product.desc.dims());
    add_weights_gradient(conv, layer, passes.backward_weights, source, gradient);
    if (input != kNetworkInput) add_source_gradient(conv, layer, passes.backward_data, gradient);
  });
}

void TrainingPlan::add_weights_gradient(const Convolution& conv, int layer,
                                        const WeightedPass& pass, const Tensor& source,
                                        const Tensor& gradient) {
  const Tensor block = weights_of(conv, layer, buffers_.gradients);
  Arguments arguments{{DNNL_ARG_SRC, in_layout(source, pass.source)},
                      {DNNL_ARG_DIFF_DST, in_layout(gradient, pass.result)}};
  if (!conv.batch_norm) arguments[DNNL_ARG_DIFF_BIAS] = others_of(conv, layer, buffers_.gradients);
  const Tensor weights = pass.weights == block.desc ? block : new_tensor(pass.weights);
  arguments[DNNL_ARG_DIFF_WEIGHTS] = weights;
  add_primitive(pass.primitive, arguments);
  if (weights.room >= 0) add_reorder(weights, block);
  steps_.push_back([this, offset = learned_[layer].weights](dnnl::stream& stream) {
    if (!*ready_) return;
    stream.wait();
    (*ready_)(offset);
  });
}

void TrainingPlan::add_source_gradient(const Convolution& conv, int layer, const WeightedPass& pass,
                                       const Tensor& gradient) {
  const Arguments inputs{
      {DNNL_ARG_WEIGHTS, in_layout(weights_of(conv, layer, buffers_.parameters), pass.weights)},
      {DNNL_ARG_DIFF_DST, in_layout(gradient, pass.result)}};
  Arguments arguments = inputs;
  const Tensor source_gradient = new_tensor(pass.source);
  arguments[DNNL_ARG_DIFF_SRC] = source_gradient;
  add_primitive(pass.primitive, arguments);
  contribute(network_.layers[layer].inputs[0], dropped(conv, layer, source_gradient));
}

// -- batch normalisation --------------------------------------------------------------------------

TrainingPlan::Normalisation TrainingPlan::add_normalisation(const Convolution& conv, int layer,
                                                            const Tensor& x) {
  Normalisation made;
  made.desc = {{dnnl::prop_kind::forward_training, x.desc, kBatchNormEpsilon, flags_of(conv)},
               engine_};
  made.x = x;
  made.mean = new_tensor(vector_of(conv.filters));
  made.variance = new_tensor(vector_of(conv.filters));
  made.result = new_tensor(x.desc);
  Arguments arguments{{DNNL_ARG_SRC, x},
                      {DNNL_ARG_SCALE_SHIFT, others_of(conv, layer, buffers_.parameters)},
                      {DNNL_ARG_MEAN, made.mean},
                      {DNNL_ARG_VARIANCE, made.variance},
                      {DNNL_ARG_DST, made.result}};
  if (conv.activation == Activation::relu)
    arguments[DNNL_ARG_WORKSPACE] = made.workspace = new_tensor(made.desc.workspace_desc());
  add_primitive(dnnl::batch_normalization_forward(made.desc), arguments);
  add_running_statistics(layer, made);
  if (conv.activation == Activation::leaky) {
    const dnnl::eltwise_forward::desc leaky(dnnl::prop_kind::forward_training,
                                            dnnl::algorithm::eltwise_relu, x.desc, kLeakySlope);
    add_primitive(dnnl::eltwise_forward({leaky, engine_}),
                  {{DNNL_ARG_SRC, made.result}, {DNNL_ARG_DST, made.result}});
  }
  return made;
}

void TrainingPlan::add_running_statistics(int layer, const Normalisation& normalisation) {
  const Shape& out = network_.layers[layer].output;
  const double values = static_cast<double>(images_) * out.height * out.width;
  const auto unbiased = static_cast<float>(values / std::max(values - 1, 1.0));
  steps_.push_back(
      [mean = memory_of(normalisation.mean), variance = memory_of(normalisation.variance),
       filters = out.channels, unbiased, momentum = options_.statistics_momentum,
       running = buffers_.statistics + learned_[layer].statistics](dnnl::stream& stream) {
        stream.wait();
        const auto* of_batch = static_cast<const float*>(mean.get_data_handle());
        for (int f = 0; f < filters; ++f) running[f] += momentum * (of_batch[f] - running[f]);
        of_batch = static_cast<const float*>(variance.get_data_handle());
        float* variances = running + filters;
        for (int f = 0; f < filters; ++f)
          variances[f] += momentum * (unbiased * of_batch[f] - variances[f]);
      });
}

TrainingPlan::Tensor TrainingPlan::normalisation_back(const Convolution& conv, int layer,
                                                      const Normalisation& normalisation,
                                                      const Tensor& gradient) {
  const memory::desc& data = normalisation.x.desc;
  const dnnl::batch_normalization_backward::primitive_desc desc(
      {dnnl::prop_kind::backward, data, data, kBatchNormEpsilon, flags_of(conv)}, engine_,
      normalisation.desc);
  const Tensor result = new_tensor(data);
  Arguments arguments{{DNNL_ARG_SRC, normalisation.x},
                      {DNNL_ARG_MEAN, normalisation.mean},
                      {DNNL_ARG_VARIANCE, normalisation.variance},
                      {DNNL_ARG_SCALE_SHIFT, others_of(conv, layer, buffers_.parameters)},
                      {DNNL_ARG_DIFF_DST, gradient},
                      {DNNL_ARG_DIFF_SRC, result},
                      {DNNL_ARG_DIFF_SCALE_SHIFT, others_of(conv, layer, buffers_.gradients)}};
  if (conv.activation == Activation::relu) arguments[DNNL_ARG_WORKSPACE] = normalisation.workspace;
  add_primitive(dnnl::batch_normalization_backward(desc), arguments);
  return result;
}

}  // namespace doetune::workloads::onednn
