#include <omp.h>

#include <algorithm>
#include <string_view>

#include "workloads/engines/onednn/onednn_calls.h"
#include "workloads/engines/onednn/onednn_plan.h"

namespace doetune::workloads::onednn {
namespace {

using dnnl::memory;
using Tag = memory::format_tag;
using Type = memory::data_type;

// Channels in blocks of 16: the layout of both Winograd transforms, and of the direct kernels that
// are fast with a fused sum. The layout that oneDNN prefers (nhwc) takes 1.2 to 1.5 times as long
// with a sum in fp32 and 1.2 to 2.4 times in bf16, measured over the four sums of ResNet-50. A
// network with sums uses this layout from its first suitable layer on, so that nothing is
// reordered.
constexpr auto kBlocked = Tag::nChw16c;
constexpr int kBlock = 16;

// When Winograd is faster, measured on a Zen 5 core over the 3 x 3 layers of the networks and over
// channels of 16 to 304 at 9 to 148 pixels. With one image it is 1.1 to 3 times faster from 49
// pixels and 16 channels on. With more, oneDNN takes larger tiles and reads up to four times the
// weights of a direct convolution, which pays off from 1000 pixels on; one image at a time is
// faster still while the transformed weights stay in the cache.
constexpr std::int64_t kWinogradPixelsOfOneImage = 49;
constexpr std::int64_t kWinogradPixels = 1000;
constexpr int kWinogradChannels = 16;
constexpr std::int64_t kWinogradWeightsInCache = 256 * 256;

int largest_prime_factor(int n) {
  int largest = 1;
  for (int factor = 2; n > 1; ++factor)
    for (; n % factor == 0; n /= factor) largest = factor;
  return largest;
}

/// oneDNN divides tiles and blocks of 16 filters into equal parts. Where their numbers have few
/// divisors (37 x 37 tiles at 147 pixels, 13 blocks of filters) it takes twice the time of a direct
/// convolution.
bool divides_well(const Convolution& conv, const Shape& out) {
  constexpr int kTile = 4;
  return largest_prime_factor((out.height + kTile - 1) / kTile) <= 29 &&
         largest_prime_factor((conv.filters + kBlock - 1) / kBlock) <= 7;
}

/// The number of images per Winograd call; 0 where a direct convolution is faster.
int winograd_images(const Convolution& conv, const Layer& node, int in_channels, int images) {
  const bool has_transform = conv.kernel == Extent{3, 3} && conv.stride == 1 &&
                             conv.pad.height <= 1 && conv.pad.width <= 1;
  const std::int64_t pixels = std::int64_t{node.output.height} * node.output.width;
  if (!has_transform || in_channels < kWinogradChannels || pixels < kWinogradPixelsOfOneImage ||
      !divides_well(conv, node.output))
    return 0;
  if (std::int64_t{in_channels} * conv.filters <= kWinogradWeightsInCache) return 1;
  return images == 1 || pixels * images >= kWinogradPixels ? images : 0;
}

}  // namespace

bool is_dense(const Convolution& conv, const Shape& in) {
  return conv.kernel == Extent{in.height, in.width} && conv.pad == Extent{0, 0};
}

void Plan::add(const Convolution& conv, int layer) {
  const Shape& in = network_.shape_of(network_.layers[layer].inputs[0]);
  if (is_dense(conv, in)) {
    add_dense(conv, layer);
    return;
  }
  if (has_own_winograd(conv, network_.layers[layer])) {
    add_winograd(conv, layer);
    return;
  }
  const auto [chosen, images, activation_fused] = choose(conv, layer);
  const Tensor& input = tensor_of(network_.layers[layer].inputs[0]);
  const memory::dims weights{conv.filters, in.channels, conv.kernel.height, conv.kernel.width};
  const memory::desc layout =
      images == images_ ? chosen.src_desc() : memory::desc(nchw(images_, in), type_, kBlocked);
  const memory::dims out = nchw(images_, network_.layers[layer].output);
  const memory::desc result =
      images == images_ ? chosen.dst_desc() : memory::desc(out, type_, kBlocked);
  add_weighted<dnnl::convolution_forward>(chosen, images, in_layout(input, layout), weights, result,
                                          layer);
  if (!activation_fused) add_activation(tensors_[layer], conv.activation);
}

/// An inner product, which oneDNN runs as one matrix product over all images. The input is passed
/// as a matrix with a row per image, since the fast kernels do not support spatial dimensions.
void Plan::add_dense(const Convolution& conv, int layer) {
  const int input = network_.layers[layer].inputs[0];
  const Shape& in = network_.shape_of(input);
  const Shape row{static_cast<int>(in.elements()), 1, 1};
  Tensor source = tensor_of(input);
  if (in != row) {
    source = in_layout(source, {nchw(images_, in), type_, Tag::nchw});
    source.desc = source.desc.reshape(nchw(images_, row));
  }
  if (add_pixelwise(conv, source, row.channels, layer)) return;
  const dnnl::inner_product_forward::desc desc(
      dnnl::prop_kind::forward_inference, {nchw(images_, row), type_, Tag::nchw},
      {{conv.filters, row.channels, 1, 1}, type_, Tag::any}, {{conv.filters}, Type::f32, Tag::x},
      {{images_, conv.filters}, type_, Tag::nc});
  const dnnl::inner_product_forward::primitive_desc chosen(desc, fused_steps(conv, layer), engine_);
  const memory::dims out = nchw(images_, network_.layers[layer].output);
  add_weighted<dnnl::inner_product_forward>(chosen, images_, in_layout(source, chosen.src_desc()),
                                            {conv.filters, row.channels, 1, 1},
                                            chosen.dst_desc().reshape(out), layer);
}

/// An inner product as a 1 x 1 convolution over an image with one pixel per image of the batch, if
/// that is faster. With AVX2, oneDNN's products of few rows copy the weights to multiply them; the
/// convolution reads them as they are, once for each thread, and gives each thread at least four
/// pixels. Measured with 4096 outputs on one core of an AMD EPYC: 1.8 to 2.2 times as fast
/// with 4 to 32 images, 0.9 times with one; on two cores as fast with 4 images, and 1.2 to 1.9
/// times with 8 and 32.
bool Plan::add_pixelwise(const Convolution& conv, const Tensor& source, int channels, int layer) {
  constexpr int kPixelsOfThread = 4;
  if (images_ < kPixelsOfThread * omp_get_max_threads() || type_ != Type::f32 || !is_avx2_best())
    return false;
  const memory::dims weights{conv.filters, channels, 1, 1};
  const dnnl::convolution_forward::desc desc(
      dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct,
      {{1, channels, 1, images_}, type_, Tag::any}, {weights, type_, Tag::any},
      {{conv.filters}, Type::f32, Tag::x}, {{1, conv.filters, 1, images_}, type_, Tag::any}, {1, 1},
      {0, 0}, {0, 0});
  const dnnl::convolution_forward::primitive_desc chosen(desc, fused_steps(conv, layer), engine_,
                                                         true);
  if (!chosen || !std::string_view(chosen.impl_info_str()).starts_with("jit")) return false;
  const std::vector<int> pixels_to_images{3, 1, 2, 0};
  add_weighted<dnnl::convolution_forward>(
      chosen, images_, in_layout(source, chosen.src_desc().permute_axes(pixels_to_images)), weights,
      chosen.dst_desc().permute_axes(pixels_to_images), layer);
  return true;
}

/// The primitive processes `images` at a time, and runs as often as the plan's images need.
/// `result` is the layout of all of these.
template <class Primitive>
void Plan::add_weighted(const typename Primitive::primitive_desc& chosen, int images,
                        const Tensor& source, const memory::dims& weights,
                        const memory::desc& result, int layer) {
  const PackedWeights packed = weights_.packed(layer, chosen.weights_desc(), weights);
  tensors_[layer] = fused_sums_[layer] >= 0 ? residual(layer, result) : new_tensor(result);
  const Primitive primitive(chosen);
  for (int image = 0; image < images_; image += images)
    add_primitive(primitive, {{DNNL_ARG_SRC, part_of(source, chosen.src_desc(), image)},
                              {DNNL_ARG_WEIGHTS, packed.weights},
                              {DNNL_ARG_BIAS, packed.bias},
                              {DNNL_ARG_DST, part_of(tensors_[layer], chosen.dst_desc(), image)}});
}

/// The tensor that the convolution accumulates into: the sum's other input, or a copy of it where
/// it is needed afterwards (or read by the convolution itself) or has another layout.
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

/// The activation of a fused sum follows the sum; the convolution itself has none then.
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
    const Convolution& conv, const Layer& node, dnnl::algorithm algorithm, Tag layout, int images,
    const dnnl::primitive_attr& attributes) const {
  const Shape& in = network_.shape_of(node.inputs[0]);
  const Shape& out = node.output;
  const dnnl::convolution_forward::desc desc(
      dnnl::prop_kind::forward_inference, algorithm, {nchw(images, in), type_, layout},
      {{conv.filters, in.channels, conv.kernel.height, conv.kernel.width}, type_, Tag::any},
      {{conv.filters}, Type::f32, Tag::x}, {nchw(images, out), type_, layout},
      {conv.stride, conv.stride}, {conv.pad.height, conv.pad.width},
      {pad_end(in.height, out.height, conv.kernel.height, conv.stride, conv.pad.height),
       pad_end(in.width, out.width, conv.kernel.width, conv.stride, conv.pad.width)});
  return {desc, attributes, engine_, true};
}

Plan::ChosenConvolution Plan::choose(const Convolution& conv, int layer) const {
  const Layer& node = network_.layers[layer];
  const Shape& in = network_.shape_of(node.inputs[0]);
  const dnnl::primitive_attr fused = fused_steps(conv, layer);
  const int images = type_ == Type::f32 ? winograd_images(conv, node, in.channels, images_) : 0;
  if (images > 0) {
    const auto winograd = [&](const dnnl::primitive_attr& attributes) {
      return describe(conv, node, dnnl::algorithm::convolution_winograd, kBlocked, images,
                      attributes);
    };
    if (const auto desc = winograd(fused)) return {desc, images, true};
    // oneDNN's Winograd transforms support a fused ReLU, but no leaky one.
    if (fused_sums_[layer] < 0)
      if (const auto desc = winograd({})) return {desc, images, false};
  }
  const auto direct = [&](Tag layout) {
    return describe(conv, node, dnnl::algorithm::convolution_direct, layout, images_, fused);
  };
  const bool sums = std::ranges::any_of(fused_sums_, [](int sum) { return sum >= 0; });
  if (sums && in.channels % kBlock == 0 && conv.filters % kBlock == 0)
    if (const auto desc = direct(kBlocked);
        desc && std::string_view(desc.impl_info_str()).starts_with("jit"))
      return {desc, images_, true};
  const auto desc = direct(Tag::any);
  if (!desc) throw CannotRun("oneDNN has no convolution in this precision for this CPU");
  return {desc, images_, true};
}

}  // namespace doetune::workloads::onednn
