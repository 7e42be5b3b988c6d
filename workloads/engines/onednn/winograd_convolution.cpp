#include "workloads/engines/onednn/winograd_convolution.h"

#include <omp.h>

#include <algorithm>
#include <cstdint>

#include "workloads/engines/onednn/winograd_kernels.h"

namespace doetune::workloads::onednn {
namespace {

using namespace winograd;

// Tiles that a thread transforms at once: about as much data as a second-level cache holds, but
// enough tiles to read weights rarely.
constexpr std::int64_t kBytesAtOnce = 1 << 20;
constexpr std::int64_t kFewestAtOnce = 96;

constexpr int divided(int count, int by) { return (count + by - 1) / by; }

constexpr std::ptrdiff_t panel_weights(int in_channels) {
  return std::ptrdiff_t{in_channels} * kPanel;
}

int tiles_in_cache(const WinogradShape& shape) {
  const std::int64_t bytes = std::int64_t{kPositions} * (shape.in.channels + shape.filters) * 4;
  return static_cast<int>(std::max(kFewestAtOnce, kBytesAtOnce / bytes));
}

}  // namespace

int winograd_tiles(int images, const Shape& out) {
  return images * divided(out.height, kTile) * divided(out.width, kTile);
}

std::size_t winograd_weights(int in_channels, int filters) {
  return kPositions * divided(filters, kPanel) * panel_weights(in_channels);
}

void transform_weights(const float* weights, int in_channels, int filters, float* to) {
  const int panels = divided(filters, kPanel);
#pragma omp parallel for
  for (int filter = 0; filter < panels * kPanel; ++filter)
    for (int channel = 0; channel < in_channels; ++channel) {
      float transformed[kPositions] = {};
      if (filter < filters)
        transform_filter(weights + (std::ptrdiff_t{filter} * in_channels + channel) * 9,
                         transformed);
      for (int position = 0; position < kPositions; ++position) {
        const std::ptrdiff_t panel = std::ptrdiff_t{position} * panels + filter / kPanel;
        to[panel * panel_weights(in_channels) + channel * kPanel + filter % kPanel] =
            transformed[position];
      }
    }
}

WinogradConvolution::WinogradConvolution(const WinogradShape& shape, int threads)
    : shape_(shape),
      out_(shape.out()),
      threads_(threads),
      tile_rows_(divided(out_.height, kTile)),
      tile_columns_(divided(out_.width, kTile)),
      tiles_(winograd_tiles(shape.images, out_)) {
  const int parts = divided(tiles_, tiles_in_cache(shape));
  divides_tiles_ = parts >= threads;
  tiles_at_once_ = divides_tiles_ ? divided(tiles_, divided(parts, threads) * threads) : tiles_;
}

std::size_t WinogradConvolution::scratch_at_once() const {
  return kPositions * (distance(shape_.in.channels / kLanes, tiles_at_once_) +
                       distance(shape_.filters / kLanes, tiles_at_once_));
}

std::size_t WinogradConvolution::scratch() const {
  return scratch_at_once() * (divides_tiles_ ? threads_ : 1);
}

void WinogradConvolution::run(const Arguments& arguments) const {
#pragma omp parallel for schedule(dynamic) num_threads(divides_tiles_ ? threads_ : 1)
  for (int first = 0; first < tiles_; first += tiles_at_once_)
    run_tiles(arguments, first, std::min(tiles_at_once_, tiles_ - first),
              arguments.scratch + omp_get_thread_num() * scratch_at_once());
}

/// Numbers from one position to the next. Not a multiple of a page, or all positions of a tile
/// would compete for one set of the first-level cache.
std::ptrdiff_t WinogradConvolution::distance(int blocks, int tiles) {
  constexpr std::ptrdiff_t kCacheLine = 16;
  return std::ptrdiff_t{blocks} * tiles * kLanes + kCacheLine;
}

void WinogradConvolution::run_tiles(const Arguments& arguments, int first, int tiles,
                                    float* patches) const {
  const int in_blocks = shape_.in.channels / kLanes;
  const int out_blocks = shape_.filters / kLanes;
  const int panels = divided(shape_.filters, kPanel);
  const std::ptrdiff_t in_distance = distance(in_blocks, tiles);
  const std::ptrdiff_t out_distance = distance(out_blocks, tiles);
  float* const products = patches + kPositions * in_distance;
#pragma omp parallel num_threads(divides_tiles_ ? 1 : threads_)
  {
#pragma omp for collapse(2) schedule(static)
    for (int block = 0; block < in_blocks; ++block)
      for (int tile = 0; tile < tiles; ++tile)
        transform_input(arguments.x, block, first + tile,
                        {patches + (std::ptrdiff_t{block} * tiles + tile) * kLanes, in_distance});
#pragma omp for collapse(2) schedule(static)
    for (int position = 0; position < kPositions; ++position)
      for (int panel = 0; panel < panels; ++panel)
        multiply({patches + position * in_distance, tiles, in_blocks},
                 arguments.weights + (std::ptrdiff_t{position} * panels + panel) *
                                         panel_weights(shape_.in.channels),
                 std::min(2, out_blocks - 2 * panel),
                 products + position * out_distance + std::ptrdiff_t{2} * panel * tiles * kLanes);
#pragma omp for collapse(2) schedule(static)
    for (int block = 0; block < out_blocks; ++block)
      for (int tile = 0; tile < tiles; ++tile)
        transform_output(
            arguments, block, first + tile,
            {products + (std::ptrdiff_t{block} * tiles + tile) * kLanes, out_distance});
  }
}

WinogradConvolution::Origin WinogradConvolution::origin(int tile) const {
  const int row = tile / tile_columns_;
  return {row / tile_rows_, row % tile_rows_ * kTile, tile % tile_columns_ * kTile};
}

/// Where the patch extends over the edge, a copy of it with zeros there is transformed.
void WinogradConvolution::transform_input(const float* x, int block, int tile,
                                          const Positions<float>& to) const {
  const Shape& in = shape_.in;
  const auto [image, out_row, out_column] = origin(tile);
  const int top = out_row - shape_.pad.height;
  const int left = out_column - shape_.pad.width;
  const std::ptrdiff_t stride = std::ptrdiff_t{in.width} * kLanes;
  const float* plane =
      x + (std::ptrdiff_t{image} * (in.channels / kLanes) + block) * in.height * stride;
  if (top >= 0 && left >= 0 && top + kPatch <= in.height && left + kPatch <= in.width) {
    transform_patch({plane + top * stride + left * kLanes, stride}, to);
    return;
  }
  float patch[kPatch * kPatch * kLanes] = {};
  const int begin = std::max(0, left);
  const int end = std::min(in.width, left + kPatch);
  for (int row = std::max(0, top); row < std::min(in.height, top + kPatch); ++row)
    std::copy(plane + row * stride + begin * kLanes, plane + row * stride + end * kLanes,
              patch + ((row - top) * kPatch + begin - left) * kLanes);
  transform_patch({patch, kPatch * kLanes}, to);
}

void WinogradConvolution::transform_output(const Arguments& arguments, int block, int tile,
                                           const Positions<const float>& products) const {
  const auto [image, row, column] = origin(tile);
  const std::ptrdiff_t stride = std::ptrdiff_t{out_.width} * kLanes;
  float* plane = arguments.y +
                 (std::ptrdiff_t{image} * (out_.channels / kLanes) + block) * out_.height * stride;
  transform_products(
      products, {arguments.bias + block * kLanes, arguments.accumulates, arguments.slope},
      {out_.height - row, out_.width - column}, {plane + row * stride + column * kLanes, stride});
}

}  // namespace doetune::workloads::onednn
