#include <omp.h>

#include <algorithm>
#include <cstdint>
#include <optional>

#include "workloads/engines/onednn/onednn_calls.h"
#include "workloads/engines/onednn/onednn_plan.h"
#include "workloads/engines/onednn/space_to_depth.h"
#include "workloads/engines/onednn/winograd_convolution.h"

namespace doetune::workloads::onednn {
namespace {

using dnnl::memory;

// When our transform is faster than oneDNN's direct convolution, which with AVX2 reaches 55 GMAC/s
// on a core. Measured on one core of an Intel Xeon limited to AVX2, over 8 to 1024 channels at 3 to
// 224 pixels and 1 to 8 images: from 96 pixels (in all images) and 16 channels on it is 1.1 to 2.7
// times faster; with all data from outside the second-level cache, 1.2 to 3 times, layers of less
// than 0.1 ms 0.8 to 1.2 times.
// - Fewer pixels do not make up for reading four times the weights: one image of 7 x 7 pixels takes
//   1.4 times as long with 1024 filters, and from memory 1.0 to 1.2 times with 64 to 512.
// - With 8 channels the transforms take as long as the products.
// - Where less than half of the tiles' outputs exist (5 x 5 pixels), products are wasted: up to 1.5
//   times as long.
constexpr int kOwnWinogradChannels = 16;
constexpr std::int64_t kOwnWinogradPixels = 96;

constexpr auto kBlocksOf8 = memory::format_tag::nChw8c;

float* floats(const memory& object) { return static_cast<float*>(object.get_data_handle()); }

/// For a convolution with a stride over fewer channels than a vector holds.
std::optional<SpaceToDepth> space_to_depth(const Convolution& conv, const Shape& in,
                                           const Shape& out) {
  if (conv.stride == 1 || in.channels >= winograd::kLanes) return std::nullopt;
  return SpaceToDepth(conv, in, out);
}

bool is_supported(const Convolution& conv, int in_channels) {
  return conv.kernel == Extent{3, 3} && conv.stride == 1 && conv.pad.height <= 1 &&
         conv.pad.width <= 1 && in_channels % winograd::kLanes == 0 &&
         conv.filters % winograd::kLanes == 0;
}

}  // namespace

bool Plan::has_own_winograd(const Convolution& conv, const Layer& node) const {
  const Shape& in = network_.shape_of(node.inputs[0]);
  const auto blocks = space_to_depth(conv, in, node.output);
  const int in_channels = blocks ? blocks->in().channels : in.channels;
  if (type_ != memory::data_type::f32 || !is_avx2_best() ||
      !is_supported(blocks ? blocks->convolution() : conv, in_channels))
    return false;
  const std::int64_t tiles = winograd_tiles(images_, node.output);
  const std::int64_t pixels = std::int64_t{images_} * node.output.height * node.output.width;
  return std::min(in_channels, conv.filters) >= kOwnWinogradChannels &&
         pixels >= kOwnWinogradPixels && 2 * pixels >= tiles * winograd::kTile * winograd::kTile;
}

Plan::Tensor Plan::blocked(const SpaceToDepth& blocks, int layer) {
  const Tensor source = in_layout(tensor_of(layer), nhwc(network_.shape_of(layer)));
  const Tensor result = new_tensor({nchw(images_, blocks.in()), type_, kBlocksOf8});
  steps_.push_back([blocks, images = images_, x = memory_of(source),
                    y = memory_of(result)](dnnl::stream& stream) {
    stream.wait();
    blocks.transform(floats(x), images, floats(y));
  });
  return result;
}

/// As one step: our own loops in the layout that oneDNN prefers with AVX2.
void Plan::add_winograd(const Convolution& conv, int layer) {
  const Layer& node = network_.layers[layer];
  const auto blocks = space_to_depth(conv, network_.shape_of(node.inputs[0]), node.output);
  const Shape in = blocks ? blocks->in() : network_.shape_of(node.inputs[0]);
  const Extent pad = blocks ? blocks->convolution().pad : conv.pad;
  const WinogradConvolution winograd({images_, in, conv.filters, pad}, omp_get_max_threads());
  const PackedWeights packed = weights_.winograd(layer, in.channels, conv.filters, blocks);
  const Tensor source =
      blocks ? blocked(*blocks, node.inputs[0])
             : in_layout(tensor_of(node.inputs[0]), {nchw(images_, in), type_, kBlocksOf8});
  const memory::desc result(nchw(images_, node.output), type_, kBlocksOf8);
  const bool accumulates = fused_sums_[layer] >= 0;
  tensors_[layer] = accumulates ? residual(layer, result) : new_tensor(result);
  const Tensor scratch =
      new_tensor({{static_cast<memory::dim>(winograd.scratch())}, type_, memory::format_tag::x});
  steps_.push_back([winograd, accumulates, packed, x = memory_of(source),
                    y = memory_of(tensors_[layer]), scratch = memory_of(scratch),
                    slope = negative_slope(activation_after(conv, layer))](dnnl::stream& stream) {
    stream.wait();
    winograd.run({floats(x), floats(packed.weights), floats(packed.bias), floats(y),
                  floats(scratch), accumulates, slope});
  });
}

}  // namespace doetune::workloads::onednn
