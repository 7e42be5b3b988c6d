#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>

#include "workloads/engines/onednn/onednn_plan.h"

namespace doetune::workloads::onednn {
namespace {

using dnnl::memory;
using Tag = memory::format_tag;
using Type = memory::data_type;

template <class T>
void permute(const void* in, void* out, int images, const std::vector<std::int64_t>& from) {
  for (int image = 0; image < images; ++image) {
    const T* source = static_cast<const T*>(in) + image * from.size();
    T* target = static_cast<T*>(out) + image * from.size();
    for (std::size_t i = 0; i < from.size(); ++i) target[i] = source[from[i]];
  }
}

float as_float(float value) { return value; }
float as_float(std::uint16_t bf16) { return std::bit_cast<float>(std::uint32_t{bf16} << 16); }

/// The index of the largest of each pixel's channels, the first of ties. The maximum is found
/// first, since both loops then vectorise.
template <class T>
void arg_max(const void* in, void* out, std::int64_t pixels, int channels) {
  const auto* source = static_cast<const T*>(in);
  auto* target = static_cast<float*>(out);
#pragma omp parallel for
  for (std::int64_t pixel = 0; pixel < pixels; ++pixel) {
    const T* values = source + pixel * channels;
    float largest = -std::numeric_limits<float>::infinity();
#pragma omp simd reduction(max : largest)
    for (int c = 0; c < channels; ++c) largest = std::max(largest, as_float(values[c]));
    int first = channels - 1;
#pragma omp simd reduction(min : first)
    for (int c = 0; c < channels; ++c)
      first = std::min(first, as_float(values[c]) == largest ? c : channels - 1);
    target[pixel] = static_cast<float>(first);
  }
}

}  // namespace

void Plan::add_pool(dnnl::algorithm algorithm, int layer, Extent kernel, int stride, int pad) {
  const Layer& node = network_.layers[layer];
  const Shape& in = network_.shape_of(node.inputs[0]);
  const Shape& out = node.output;
  Tensor source = typed(node.inputs[0]);
  // oneDNN has no fast kernel for a plane for each channel, which is what its convolutions by
  // matrix products give. After AlexNet's first one, pooling took a seventh of the whole time.
  if (source.desc == memory::desc(nchw(images_, in), type_, Tag::nchw))
    source = in_layout(source, nhwc(in));
  const dnnl::pooling_forward::desc desc(
      dnnl::prop_kind::forward_inference, algorithm, source.desc, any(out), {stride, stride},
      {kernel.height, kernel.width}, {pad, pad},
      {pad_end(in.height, out.height, kernel.height, stride, pad),
       pad_end(in.width, out.width, kernel.width, stride, pad)});
  const dnnl::pooling_forward::primitive_desc chosen(desc, engine_);
  tensors_[layer] = new_tensor(chosen.dst_desc());
  add_primitive(dnnl::pooling_forward(chosen),
                {{DNNL_ARG_SRC, memory_of(source)}, {DNNL_ARG_DST, memory_of(tensors_[layer])}});
}

void Plan::add(const MaxPool& pool, int layer) {
  add_pool(dnnl::algorithm::pooling_max, layer, {pool.kernel, pool.kernel}, pool.stride,
           pool.pad_before);
}

void Plan::add(const AveragePool& pool, int layer) {
  add_pool(dnnl::algorithm::pooling_avg_include_padding, layer, pool.kernel, pool.stride, pool.pad);
}

void Plan::add(const LocalResponseNorm& norm, int layer) {
  const Tensor source = typed(network_.layers[layer].inputs[0]);
  const dnnl::lrn_forward::desc desc(dnnl::prop_kind::forward_inference,
                                     dnnl::algorithm::lrn_across_channels, source.desc, norm.size,
                                     norm.alpha, norm.beta, norm.bias);
  tensors_[layer] = new_tensor(source.desc);
  add_primitive(dnnl::lrn_forward({desc, engine_}),
                {{DNNL_ARG_SRC, memory_of(source)}, {DNNL_ARG_DST, memory_of(tensors_[layer])}});
}

void Plan::add(const Sum& sum, int layer) {
  const auto& inputs = network_.layers[layer].inputs;
  for (const int input : inputs)
    if (input != kNetworkInput && fused_sums_[input] == layer) {
      tensors_[layer] = tensors_[input];
      return;
    }
  const Tensor left = typed(inputs[0]);
  const Tensor right = in_layout(tensor_of(inputs[1]), left.desc);
  tensors_[layer] = new_tensor(left.desc);
  dnnl::post_ops activation;
  append_activation(activation, sum.activation);
  dnnl::primitive_attr attributes;
  attributes.set_post_ops(activation);
  const dnnl::binary::desc desc(dnnl::algorithm::binary_add, left.desc, right.desc, left.desc);
  add_primitive(dnnl::binary({desc, attributes, engine_}),
                {{DNNL_ARG_SRC_0, memory_of(left)},
                 {DNNL_ARG_SRC_1, memory_of(right)},
                 {DNNL_ARG_DST, memory_of(tensors_[layer])}});
}

void Plan::add(const Upsample& upsample, int layer) {
  const Tensor source = typed(network_.layers[layer].inputs[0]);
  const auto factor = static_cast<float>(upsample.factor);
  const dnnl::resampling_forward::desc desc(dnnl::prop_kind::forward_inference,
                                            dnnl::algorithm::resampling_nearest,
                                            std::vector<float>{factor, factor}, source.desc);
  const dnnl::resampling_forward::primitive_desc chosen(desc, engine_);
  tensors_[layer] = new_tensor(chosen.dst_desc());
  add_primitive(dnnl::resampling_forward(chosen),
                {{DNNL_ARG_SRC, memory_of(source)}, {DNNL_ARG_DST, memory_of(tensors_[layer])}});
}

/// The result is fp32 in every precision: bf16 holds no index above 256 exactly.
void Plan::add(const ChannelArgMax&, int layer) {
  const Layer& node = network_.layers[layer];
  const Shape& in = network_.shape_of(node.inputs[0]);
  const Tensor source = in_layout(tensor_of(node.inputs[0]), nhwc(in));
  tensors_[layer] = new_tensor({nchw(images_, node.output), Type::f32, Tag::nhwc});
  const auto search = type_ == Type::bf16 ? arg_max<std::uint16_t> : arg_max<float>;
  steps_.push_back([search, in = memory_of(source), out = memory_of(tensors_[layer]),
                    pixels = std::int64_t{images_} * in.height * in.width,
                    channels = in.channels](dnnl::stream& stream) {
    stream.wait();
    search(in.get_data_handle(), out.get_data_handle(), pixels, channels);
  });
}

void Plan::add(const Reorg& reorg, int layer) {
  const Layer& node = network_.layers[layer];
  const Shape& in_shape = network_.shape_of(node.inputs[0]);
  const Tensor source =
      in_layout(tensor_of(node.inputs[0]), {nchw(images_, in_shape), type_, Tag::nchw});
  tensors_[layer] = new_tensor({nchw(images_, node.output), type_, Tag::nchw});
  std::vector<std::int64_t> from(in_shape.elements());
  for (std::int64_t i = 0; i < in_shape.elements(); ++i)
    from[i] = reorg_source(in_shape, reorg.stride, i);
  const auto move = type_ == Type::bf16 ? permute<std::uint16_t> : permute<float>;
  steps_.push_back([move, in = memory_of(source), out = memory_of(tensors_[layer]),
                    images = images_, from = std::move(from)](dnnl::stream& stream) {
    stream.wait();
    move(in.get_data_handle(), out.get_data_handle(), images, from);
  });
}

void Plan::add(const Route&, int layer) {
  const Layer& node = network_.layers[layer];
  if (node.inputs.size() == 1) {
    tensors_[layer] = tensor_of(node.inputs[0]);
    return;
  }
  std::vector<memory::desc> descs;
  std::vector<Tensor> parts;
  for (const int input : node.inputs) {
    parts.push_back(typed(input));
    descs.push_back(parts.back().desc);
  }
  // Where the layouts of the parts differ, use that of the first, a branch of a single 1 x 1
  // convolution: the next layers prefer it.
  const bool as_first = descs[0] == nhwc(network_.shape_of(node.inputs[0]));
  const memory::desc wanted = as_first ? nhwc(node.output) : any(node.output);
  const dnnl::concat::primitive_desc chosen(wanted, 1, descs, engine_);
  tensors_[layer] = new_tensor(chosen.dst_desc());
  Arguments arguments{{DNNL_ARG_DST, memory_of(tensors_[layer])}};
  for (std::size_t part = 0; part < parts.size(); ++part)
    arguments[DNNL_ARG_MULTIPLE_SRC + static_cast<int>(part)] = memory_of(parts[part]);
  add_primitive(dnnl::concat(chosen), std::move(arguments));
}

}  // namespace doetune::workloads::onednn
