#include <algorithm>

#include "workloads/engines/onednn/onednn_calls.h"
#include "workloads/engines/onednn/onednn_plan.h"
#include "workloads/engines/onednn/onednn_training_plan.h"

namespace doetune::workloads::onednn {
namespace {

using dnnl::memory;
using Tag = memory::format_tag;
using Type = memory::data_type;

// A Winograd transform needs fewer multiplications, but is faster only with enough channels for its
// matrix products. Measured on a Zen 5 core, batch 32, 3 x 3 in fp32: 0.6 to 0.75 times the speed
// of the direct convolution at 16 channels, 1.4 at 32, 1.7 at 64 (8 x 8 pixels), 2 to 4 above.
constexpr int kTrainingWinogradChannels = 32;

// The limit of threads x weights over activations in bf16, above which the threads of oneDNN are
// used (in fp32 it is 1). Measured on ResNet-18, batch 32, two threads: dividing the images of
// every layer takes 1.25 times the CPU time of a limit of 1 in fp32, and a quarter of it in bf16.
constexpr std::int64_t kBf16Factor = 16;

/// `convolution_auto` is Winograd where oneDNN has one.
dnnl::algorithm algorithm_for(const Convolution& conv, const Shape& in) {
  return std::min(in.channels, conv.filters) >= kTrainingWinogradChannels
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

/// Threads that run the same primitive concurrently each need scratch memory of their own.
dnnl::primitive_attr own_scratch() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

/// Without batch normalisation the activation is fused into the convolution.
dnnl::primitive_attr fused_activation(const Convolution& conv) {
  dnnl::post_ops operations;
  if (!conv.batch_norm) append_activation(operations, conv.activation);
  dnnl::primitive_attr attributes = own_scratch();
  attributes.set_post_ops(operations);
  return attributes;
}

std::size_t image_stride(const memory::desc& desc) {
  return static_cast<std::size_t>(desc.data.format_desc.blocking.strides[0]) *
         memory::data_type_size(desc.data_type());
}

/// The same layout for another number of images.
memory::desc for_images(memory::desc desc, std::int64_t images) {
  desc.data.dims[0] = desc.data.padded_dims[0] = images;
  return desc;
}

bool is_data(int argument) {
  return argument == DNNL_ARG_SRC || argument == DNNL_ARG_DST || argument == DNNL_ARG_DIFF_SRC ||
         argument == DNNL_ARG_DIFF_DST;
}

bool is_shared(int argument) { return argument == DNNL_ARG_WEIGHTS || argument == DNNL_ARG_BIAS; }

}  // namespace

std::vector<TrainingPlan::Parameters> TrainingPlan::parameters_of(const Network& network) {
  std::vector<Parameters> result(network.layers.size());
  std::int64_t statistics = 0;
  for (const ParameterTensor& tensor : parameter_layout(network)) {
    Parameters& parameters = result[tensor.layer];
    if (tensor.kind == ParameterKind::weights) {
      parameters.weights = tensor.offset;
      parameters.others = tensor.offset + tensor.count;
      parameters.statistics = statistics;
    } else if (tensor.kind == ParameterKind::scale) {
      statistics += 2 * tensor.count;
    }
  }
  return result;
}

/// Threads inside oneDNN that each sum the gradients of some images spin while they wait: on busy
/// cores that took up to six times the CPU time of one thread. So our own threads divide the
/// images, unless the per-thread weight gradients would be too large relative to the activations
/// read.
int TrainingPlan::parts_of(const Convolution& conv, int layer) const {
  const Layer& node = network_.layers[layer];
  const Shape& in = network_.shape_of(node.inputs[0]);
  const int threads = options_.threads;
  const std::int64_t weights =
      in.channels * std::int64_t{conv.filters} * conv.kernel.height * conv.kernel.width;
  const std::int64_t activations = images_ * (in.elements() + node.output.elements());
  const bool pays = threads * weights <= activations * (type_ == Type::bf16 ? kBf16Factor : 1);
  return images_ % threads == 0 && pays ? threads : 1;
}

TrainingPlan::WeightedPasses TrainingPlan::convolution(const Convolution& conv, int layer,
                                                       int parts) const {
  const OnThreads threads(parts > 1 ? 1 : options_.threads);
  const Layer& node = network_.layers[layer];
  const Shape& in = network_.shape_of(node.inputs[0]);
  const Shape& out = node.output;
  const dnnl::algorithm algorithm = algorithm_for(conv, in);
  const memory::dims dims = weight_dims(conv, in);
  const memory::desc weights(dims, type_, Tag::any);
  const auto any_of = [&](const Shape& shape) {
    return memory::desc(nchw(images_ / parts, shape), type_, Tag::any);
  };
  const memory::dims strides{conv.stride, conv.stride};
  const memory::dims begin{conv.pad.height, conv.pad.width};
  const memory::dims end{
      pad_end(in.height, out.height, conv.kernel.height, conv.stride, conv.pad.height),
      pad_end(in.width, out.width, conv.kernel.width, conv.stride, conv.pad.width)};
  const dnnl::convolution_forward::primitive_desc forward(
      {dnnl::prop_kind::forward_training, algorithm, any_of(in), weights, bias_of(conv),
       any_of(out), strides, begin, end},
      fused_activation(conv), engine_);
  const dnnl::convolution_backward_data::primitive_desc data(
      {algorithm, any_of(in), weights, any_of(out), strides, begin, end}, own_scratch(), engine_,
      forward);
  const dnnl::convolution_backward_weights::primitive_desc learning({algorithm,
                                                                     any_of(in),
                                                                     {dims, Type::f32, Tag::any},
                                                                     bias_of(conv),
                                                                     any_of(out),
                                                                     strides,
                                                                     begin,
                                                                     end},
                                                                    own_scratch(), engine_,
                                                                    forward);
  const auto whole = [&](const memory::desc& part) { return for_images(part, images_); };
  return {{dnnl::convolution_forward(forward), whole(forward.src_desc()), forward.weights_desc(),
           whole(forward.dst_desc()), forward.scratchpad_desc(), parts},
          {dnnl::convolution_backward_data(data), whole(data.diff_src_desc()), data.weights_desc(),
           whole(data.diff_dst_desc()), data.scratchpad_desc(), parts},
          {dnnl::convolution_backward_weights(learning), whole(learning.src_desc()),
           learning.diff_weights_desc(), whole(learning.diff_dst_desc()),
           learning.scratchpad_desc(), parts}};
}

TrainingPlan::WeightedPasses TrainingPlan::inner_product(const Convolution& conv, int layer) const {
  const Shape& in = network_.shape_of(network_.layers[layer].inputs[0]);
  constexpr std::int64_t kWorthWaking = 1 << 24;  // multiply-accumulates
  const OnThreads threads(in.elements() * conv.filters * images_ < kWorthWaking ? 1
                                                                                : options_.threads);
  const memory::dims dims = weight_dims(conv, in);
  const memory::desc weights(dims, type_, Tag::any);
  const memory::desc result({images_, conv.filters}, type_, Tag::nc);
  const dnnl::inner_product_forward::primitive_desc forward(
      {dnnl::prop_kind::forward_training, any(in), weights, bias_of(conv), result},
      fused_activation(conv), engine_);
  const dnnl::inner_product_backward_data::primitive_desc data({any(in), weights, result},
                                                               own_scratch(), engine_, forward);
  const dnnl::inner_product_backward_weights::primitive_desc learning(
      {any(in), {dims, Type::f32, Tag::any}, bias_of(conv), result}, own_scratch(), engine_,
      forward);
  return {{dnnl::inner_product_forward(forward), forward.src_desc(), forward.weights_desc(),
           forward.dst_desc(), forward.scratchpad_desc()},
          {dnnl::inner_product_backward_data(data), data.diff_src_desc(), data.weights_desc(),
           data.diff_dst_desc(), data.scratchpad_desc()},
          {dnnl::inner_product_backward_weights(learning), learning.src_desc(),
           learning.diff_weights_desc(), learning.diff_dst_desc(), learning.scratchpad_desc()}};
}

TrainingPlan::Tensor TrainingPlan::weights_of(const Convolution& conv, int layer,
                                              float* block) const {
  const Shape& in = network_.shape_of(network_.layers[layer].inputs[0]);
  return {{weight_dims(conv, in), Type::f32, Tag::oihw}, -1, block + parameters_[layer].weights};
}

/// The bias, or scale and shift as two rows.
TrainingPlan::Tensor TrainingPlan::others_of(const Convolution& conv, int layer,
                                             float* block) const {
  const memory::desc two_rows({2, conv.filters}, Type::f32, Tag::nc);
  return {conv.batch_norm ? two_rows : vector_of(conv.filters), -1,
          block + parameters_[layer].others};
}

void TrainingPlan::add(const Convolution& conv, int layer) {
  const Layer& node = network_.layers[layer];
  const int input = node.inputs[0];
  const WeightedPasses passes = is_dense(conv, network_.shape_of(input))
                                    ? inner_product(conv, layer)
                                    : convolution(conv, layer, parts_of(conv, layer));
  const Tensor source =
      in_layout(dropped(conv, layer, input == kNetworkInput ? image_ : tensors_[input]),
                passes.forward.source);
  Arguments arguments{{DNNL_ARG_SRC, source},
                      {DNNL_ARG_WEIGHTS, in_layout(weights_of(conv, layer, buffers_.parameters),
                                                   passes.forward.weights)}};
  if (!conv.batch_norm) arguments[DNNL_ARG_BIAS] = others_of(conv, layer, buffers_.parameters);
  const Tensor product = new_tensor(passes.forward.result);
  arguments[DNNL_ARG_DST] = product;
  add_weighted(passes.forward, arguments);

  Tensor result = product;
  result.desc = result.desc.reshape(nchw(images_, node.output));
  Normalisation normalisation;
  if (conv.batch_norm) {
    normalisation = add_normalisation(conv, layer, result);
    result = normalisation.result;
  }
  tensors_.push_back(result);
  const int end = fused_sums_[layer] >= 0 ? fused_sums_[layer] : layer;
  add_backward_.push_back([=, this] {
    if (contributions_[end].empty()) return;
    Tensor gradient = gradient_of(end);
    gradient = conv.batch_norm ? normalisation_back(conv, layer, normalisation, gradient)
                               : activation_back(conv.activation, result, gradient);
    gradient.desc = gradient.desc.reshape(product.desc.dims());
    add_weights_gradient(conv, layer, passes.backward_weights, source, gradient);
    if (input != kNetworkInput) add_source_gradient(conv, layer, passes.backward_data, gradient);
  });
}

void TrainingPlan::add_weighted(const WeightedPass& pass, const Arguments& arguments) {
  Arguments all = arguments;
  all[DNNL_ARG_SCRATCHPAD] = new_tensor(pass.scratch, pass.parts);
  std::vector<std::unordered_map<int, memory>> memories(pass.parts);
  for (int part = 0; part < pass.parts; ++part)
    for (const auto& [argument, whole] : all) {
      Tensor tensor = whole;
      if (is_data(argument) && pass.parts > 1) {
        const int images = images_ / pass.parts;
        tensor.desc = for_images(whole.desc, images);
        tensor.offset += part * images * image_stride(whole.desc);
      } else if (!is_shared(argument)) {
        tensor.offset += part * whole.desc.get_size();
      }
      memories[part][argument] = memory_of(tensor);
    }
  steps_.push_back([primitive = pass.primitive, memories](dnnl::stream& stream) {
    if (memories.size() == 1) {
      primitive.execute(stream, memories[0]);
      return;
    }
    stream.wait();
#pragma omp parallel for schedule(static)
    for (const auto& of_part : memories) primitive.execute(stream, of_part);
  });
}

void TrainingPlan::add_gathered(const Tensor& copies, int count, const Tensor& block) {
  if (copies.buffer < 0) return;
  if (count > 1) {
    const std::size_t numbers = copies.desc.get_size() / sizeof(float);
    Tensor all = copies;
    steps_.push_back([count, numbers, object = memory_of(all)](dnnl::stream& stream) {
      stream.wait();
      auto* first = static_cast<float*>(object.get_data_handle());
#pragma omp parallel for simd if (numbers > 1 << 15)
      for (std::size_t i = 0; i < numbers; ++i)
        for (int copy = 1; copy < count; ++copy) first[i] += first[copy * numbers + i];
    });
  }
  add_reorder(copies, block);
}

void TrainingPlan::add_weights_gradient(const Convolution& conv, int layer,
                                        const WeightedPass& pass, const Tensor& source,
                                        const Tensor& gradient) {
  const Tensor weights_block = weights_of(conv, layer, buffers_.gradients);
  const Tensor bias_block = others_of(conv, layer, buffers_.gradients);
  Arguments arguments{{DNNL_ARG_SRC, in_layout(source, pass.source)},
                      {DNNL_ARG_DIFF_DST, in_layout(gradient, pass.result)}};
  const auto made = [&](const memory::desc& desc, const Tensor& block) {
    return pass.parts == 1 && desc == block.desc ? block : new_tensor(desc, pass.parts);
  };
  const Tensor weights = made(pass.weights, weights_block);
  arguments[DNNL_ARG_DIFF_WEIGHTS] = weights;
  const Tensor bias = conv.batch_norm ? bias_block : made(bias_block.desc, bias_block);
  if (!conv.batch_norm) arguments[DNNL_ARG_DIFF_BIAS] = bias;
  add_weighted(pass, arguments);
  add_gathered(weights, pass.parts, weights_block);
  add_gathered(bias, pass.parts, bias_block);
  steps_.push_back([this, offset = parameters_[layer].weights](dnnl::stream& stream) {
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
  add_weighted(pass, arguments);
  contribute(network_.layers[layer].inputs[0], dropped(conv, layer, source_gradient));
}

}  // namespace doetune::workloads::onednn
