#include "workloads/engines/onednn/onednn_plan.h"

#include <sys/mman.h>

#include <algorithm>
#include <new>

#include "workloads/networks/weights.h"

namespace doetune::workloads::onednn {
namespace {

using dnnl::memory;
using Tag = memory::format_tag;
using Type = memory::data_type;

constexpr int kHostInput = -1;
constexpr int kHostOutput = -2;

// A Winograd convolution reads up to four times the weights of a direct one, so it pays where
// pixels are many. Measured on a Zen 5 core over the layers of tiny-yolov2: 1.1 to 2.1 times faster
// from 1000 pixels on, 0.3 to 1.1 times below; one image alone (oneDNN's smaller transform) gains
// from 100 on.
constexpr std::int64_t kWinogradPixels = 1000;
constexpr std::int64_t kWinogradPixelsOfOneImage = 100;
constexpr int kWinogradChannels = 32;

memory::dims nchw(int images, const Shape& shape) {
  return {images, shape.channels, shape.height, shape.width};
}

bool winograd_pays(const Convolution& conv, const Layer& node, int in_channels, int images) {
  const std::int64_t pixels = std::int64_t{images} * node.output.height * node.output.width;
  return conv.kernel == Extent{3, 3} && conv.stride == 1 && conv.pad == Extent{1, 1} &&
         in_channels >= kWinogradChannels &&
         pixels >= (images == 1 ? kWinogradPixelsOfOneImage : kWinogradPixels);
}

template <class T>
void permute(const void* in, void* out, int images, const std::vector<std::int64_t>& from) {
  for (int image = 0; image < images; ++image) {
    const T* source = static_cast<const T*>(in) + image * from.size();
    T* target = static_cast<T*>(out) + image * from.size();
    for (std::size_t i = 0; i < from.size(); ++i) target[i] = source[from[i]];
  }
}

}  // namespace

Buffer::Buffer(std::size_t bytes) : bytes_(std::max<std::size_t>(bytes, 1)) {
  data_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data_ == MAP_FAILED) throw std::bad_alloc();
  madvise(data_, bytes_, MADV_HUGEPAGE);
}

Buffer::~Buffer() { munmap(data_, bytes_); }

PackedWeights WeightStore::packed(int layer, const memory::desc& wanted, const memory::dims& dims) {
  auto& kept = kept_[layer];
  for (const PackedWeights& each : kept)
    if (each.weights.get_desc() == wanted) return each;
  const ConvolutionWeights plain = convolution_weights(network_, block_, layer);
  PackedWeights packed;
  packed.storage = std::make_shared<Buffer>(wanted.get_size());
  packed.weights = memory(wanted, engine_, packed.storage->at(0));
  packed.bias =
      memory({{dims[0]}, Type::f32, Tag::x}, engine_, const_cast<float*>(plain.bias.data()));
  memory source({dims, Type::f32, Tag::oihw}, engine_, const_cast<float*>(plain.weights.data()));
  dnnl::stream stream(engine_);
  dnnl::reorder(source, packed.weights).execute(stream, source, packed.weights);
  stream.wait();
  kept.push_back(packed);
  return packed;
}

Plan::Plan(const dnnl::engine& engine, const Network& network, WeightStore& weights,
           Precision precision, int images)
    : engine_(engine),
      network_(network),
      weights_(weights),
      type_(precision == Precision::bf16 ? Type::bf16 : Type::f32),
      images_(images) {}

void Plan::build(float* input, float* output) {
  find_last_uses();
  values_.resize(network_.layers.size());
  image_ = {{nchw(images_, network_.input), Type::f32, Tag::nhwc}, kHostInput};
  for (int layer = 0; layer < static_cast<int>(network_.layers.size()); ++layer) {
    std::visit([&](const auto& op) { add(op, layer); }, network_.layers[layer].op);
    release_after(layer);
  }
  add_reorder(values_.back(),
              {{nchw(images_, network_.output()), Type::f32, Tag::nhwc}, kHostOutput});
  bind(input, output);
}

void Plan::run(dnnl::stream& stream) const {
  for (const Step& step : steps_) step(stream);
  stream.wait();
}

// -- which tensor lies where
// ------------------------------------------------------------------------

/// The layer whose tensor this layer's is: a route with one input is its input.
int Plan::root(int layer) const {
  while (layer >= 0 && std::holds_alternative<Route>(network_.layers[layer].op) &&
         network_.layers[layer].inputs.size() == 1)
    layer = network_.layers[layer].inputs[0];
  return layer;
}

void Plan::find_last_uses() {
  const auto layers = static_cast<int>(network_.layers.size());
  last_use_.assign(layers, 0);
  for (int layer = 0; layer < layers; ++layer)
    for (const int input : network_.layers[layer].inputs)
      if (root(input) >= 0) last_use_[root(input)] = layer;
  last_use_[root(layers - 1)] = layers;
}

Plan::Value Plan::new_value(const memory::desc& desc) {
  auto slot = std::ranges::find(slots_, true, &Slot::free);
  if (slot == slots_.end()) slot = slots_.insert(slot, Slot{});
  slot->free = false;
  slot->bytes = std::max(slot->bytes, desc.get_size());
  return {desc, static_cast<int>(slot - slots_.begin())};
}

void Plan::release(const Value& value) {
  if (value.slot >= 0) slots_[value.slot].free = true;
}

void Plan::release_after(int layer) {
  for (int earlier = 0; earlier < layer; ++earlier)
    if (last_use_[earlier] == layer && root(earlier) == earlier) release(values_[earlier]);
}

/// The tensor in the wanted layout and type: itself, or a copy that release_copy gives back.
Plan::Value Plan::in_layout(const Value& value, const memory::desc& wanted) {
  if (value.desc == wanted) return value;
  const Value copy = new_value(wanted);
  add_reorder(value, copy);
  return copy;
}

void Plan::release_copy(const Value& used, const Value& original) {
  if (used.slot != original.slot) release(used);
}

void Plan::bind(float* input, float* output) {
  constexpr std::size_t kAlign = 4096;
  std::vector<std::size_t> offsets;
  std::size_t total = 0;
  for (const Slot& slot : slots_) {
    offsets.push_back(total);
    total += (slot.bytes + kAlign - 1) / kAlign * kAlign;
  }
  arena_ = std::make_unique<Buffer>(total);
  for (auto& [object, slot] : unbound_)
    object.set_data_handle(slot == kHostInput    ? static_cast<void*>(input)
                           : slot == kHostOutput ? static_cast<void*>(output)
                                                 : arena_->at(offsets[slot]));
  unbound_.clear();
}

// -- steps
// ------------------------------------------------------------------------------------------

/// Memory objects get their addresses in bind(), once the size of every slot is known.
memory Plan::memory_of(const Value& value) {
  memory result(value.desc, engine_, DNNL_MEMORY_NONE);
  unbound_.push_back({result, value.slot});
  return result;
}

memory::desc Plan::any(const Shape& shape) const { return {nchw(images_, shape), type_, Tag::any}; }

void Plan::add_primitive(dnnl::primitive primitive, Arguments arguments) {
  steps_.push_back([primitive = std::move(primitive), arguments = std::move(arguments)](
                       dnnl::stream& stream) { primitive.execute(stream, arguments); });
}

void Plan::add_reorder(const Value& from, const Value& to) {
  const dnnl::reorder::primitive_desc desc(engine_, from.desc, engine_, to.desc);
  add_primitive(dnnl::reorder(desc),
                {{DNNL_ARG_FROM, memory_of(from)}, {DNNL_ARG_TO, memory_of(to)}});
}

void Plan::add_activation(const Value& value, Activation activation) {
  const dnnl::eltwise_forward::desc desc(dnnl::prop_kind::forward_inference,
                                         dnnl::algorithm::eltwise_relu, value.desc,
                                         negative_slope(activation));
  const memory in_place = memory_of(value);
  add_primitive(dnnl::eltwise_forward({desc, engine_}),
                {{DNNL_ARG_SRC, in_place}, {DNNL_ARG_DST, in_place}});
}

/// Empty if oneDNN has no such convolution.
dnnl::convolution_forward::primitive_desc Plan::describe(
    const Convolution& conv, const Layer& node, dnnl::algorithm algorithm,
    const dnnl::primitive_attr& attributes) const {
  const Shape& in = network_.shape_of(node.inputs[0]);
  const auto pad_end = [&](int out, int kernel, int size, int pad) -> memory::dim {
    return (out - 1) * conv.stride + kernel - size - pad;
  };
  const dnnl::convolution_forward::desc desc(
      dnnl::prop_kind::forward_inference, algorithm, any(in),
      {{conv.filters, in.channels, conv.kernel.height, conv.kernel.width}, type_, Tag::any},
      {{conv.filters}, Type::f32, Tag::x}, any(node.output), {conv.stride, conv.stride},
      {conv.pad.height, conv.pad.width},
      {pad_end(node.output.height, conv.kernel.height, in.height, conv.pad.height),
       pad_end(node.output.width, conv.kernel.width, in.width, conv.pad.width)});
  return {desc, attributes, engine_, true};
}

Plan::ChosenConvolution Plan::choose(const Convolution& conv, const Layer& node) const {
  const int in_channels = network_.shape_of(node.inputs[0]).channels;
  if (type_ == Type::f32 && winograd_pays(conv, node, in_channels, images_))
    if (const auto winograd = describe(conv, node, dnnl::algorithm::convolution_winograd, {}))
      return {winograd, conv.activation == Activation::linear};
  dnnl::primitive_attr attributes;
  if (conv.activation != Activation::linear) {
    dnnl::post_ops activation;
    activation.append_eltwise(1.0F, dnnl::algorithm::eltwise_relu, negative_slope(conv.activation),
                              0.0F);
    attributes.set_post_ops(activation);
  }
  const auto direct = describe(conv, node, dnnl::algorithm::convolution_direct, attributes);
  if (!direct) throw CannotRun("oneDNN has no convolution in this precision for this CPU");
  return {direct, true};
}

void Plan::add(const Convolution& conv, int layer) {
  const Layer& node = network_.layers[layer];
  const auto [chosen, activation_fused] = choose(conv, node);
  const memory::dims weight_dims{conv.filters, network_.shape_of(node.inputs[0]).channels,
                                 conv.kernel.height, conv.kernel.width};
  const PackedWeights packed = weights_.packed(layer, chosen.weights_desc(), weight_dims);
  const Value& original = value_of(node.inputs[0]);
  const Value source = in_layout(original, chosen.src_desc());
  values_[layer] = new_value(chosen.dst_desc());
  add_primitive(dnnl::convolution_forward(chosen), {{DNNL_ARG_SRC, memory_of(source)},
                                                    {DNNL_ARG_WEIGHTS, packed.weights},
                                                    {DNNL_ARG_BIAS, packed.bias},
                                                    {DNNL_ARG_DST, memory_of(values_[layer])}});
  if (!activation_fused) add_activation(values_[layer], conv.activation);
  release_copy(source, original);
}

void Plan::add(const MaxPool& pool, int layer) {
  const Layer& node = network_.layers[layer];
  const Shape& in = network_.shape_of(node.inputs[0]);
  const auto pad_end = [&](int out, int size) -> memory::dim {
    return (out - 1) * pool.stride + pool.kernel - size - pool.pad_before;
  };
  const Value& source = value_of(node.inputs[0]);
  const dnnl::pooling_forward::desc desc(
      dnnl::prop_kind::forward_inference, dnnl::algorithm::pooling_max, source.desc,
      any(node.output), {pool.stride, pool.stride}, {pool.kernel, pool.kernel},
      {pool.pad_before, pool.pad_before},
      {pad_end(node.output.height, in.height), pad_end(node.output.width, in.width)});
  const dnnl::pooling_forward::primitive_desc chosen(desc, engine_);
  values_[layer] = new_value(chosen.dst_desc());
  add_primitive(dnnl::pooling_forward(chosen),
                {{DNNL_ARG_SRC, memory_of(source)}, {DNNL_ARG_DST, memory_of(values_[layer])}});
}

void Plan::add(const Reorg& reorg, int layer) {
  const Layer& node = network_.layers[layer];
  const Shape& in_shape = network_.shape_of(node.inputs[0]);
  const Value& original = value_of(node.inputs[0]);
  const Value source = in_layout(original, {nchw(images_, in_shape), type_, Tag::nchw});
  values_[layer] = new_value({nchw(images_, node.output), type_, Tag::nchw});
  std::vector<std::int64_t> from(in_shape.elements());
  for (std::int64_t i = 0; i < in_shape.elements(); ++i)
    from[i] = reorg_source(in_shape, reorg.stride, i);
  const auto move = type_ == Type::bf16 ? permute<std::uint16_t> : permute<float>;
  steps_.push_back([move, in = memory_of(source), out = memory_of(values_[layer]), images = images_,
                    from = std::move(from)](dnnl::stream& stream) {
    stream.wait();
    move(in.get_data_handle(), out.get_data_handle(), images, from);
  });
  release_copy(source, original);
}

void Plan::add(const Route&, int layer) {
  const Layer& node = network_.layers[layer];
  if (node.inputs.size() == 1) {
    values_[layer] = value_of(node.inputs[0]);
    return;
  }
  std::vector<memory::desc> descs;
  Arguments arguments;
  for (const int input : node.inputs) {
    arguments[DNNL_ARG_MULTIPLE_SRC + static_cast<int>(descs.size())] = memory_of(value_of(input));
    descs.push_back(value_of(input).desc);
  }
  const dnnl::concat::primitive_desc chosen(1, descs, engine_);
  values_[layer] = new_value(chosen.dst_desc());
  arguments[DNNL_ARG_DST] = memory_of(values_[layer]);
  add_primitive(dnnl::concat(chosen), std::move(arguments));
}

}  // namespace doetune::workloads::onednn
