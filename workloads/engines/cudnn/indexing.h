// The index arithmetic and elementwise functions of the kernels, for host and device alike, so that
// a machine without a GPU can test them.
#pragma once

#include <cmath>
#include <cstdint>

#include "workloads/networks/detection.h"
#include "workloads/shape.h"

#ifdef __CUDACC__
#define DOETUNE_DEVICE __host__ __device__ inline
#else
#define DOETUNE_DEVICE inline
#endif

namespace doetune::workloads::cudnn {

/// An NHWC tensor, or some channels of one: pixels are `pitch` elements apart.
struct View {
  void* data = nullptr;
  int channels = 0;
  int height = 0;
  int width = 0;
  int pitch = 0;
};

/// Index of the first channel of a pixel.
DOETUNE_DEVICE std::int64_t pixel_at(const View& view, int image, int y, int x) {
  return ((static_cast<std::int64_t>(image) * view.height + y) * view.width + x) * view.pitch;
}

/// The indices of an element, or of a group of channels where `channels` counts groups.
struct Position {
  int image, y, x, channel;
};

/// The position of the index-th element of a view, channels innermost.
DOETUNE_DEVICE Position position_of(std::uint32_t index, int channels, int height, int width) {
  const auto columns = static_cast<std::uint32_t>(width);
  const auto rows = static_cast<std::uint32_t>(height);
  const std::uint32_t pixel = index / static_cast<std::uint32_t>(channels);
  const std::uint32_t row = pixel / columns;
  return {static_cast<int>(row / rows), static_cast<int>(row % rows),
          static_cast<int>(pixel % columns),
          static_cast<int>(index % static_cast<std::uint32_t>(channels))};
}

/// The part of a window that is inside: [begin, end).
struct Range {
  int begin, end;
};
DOETUNE_DEVICE Range window(int out, int kernel, int stride, int pad, int size) {
  const int begin = out * stride - pad;
  const int end = begin + kernel;
  return {begin < 0 ? 0 : begin, end > size ? size : end};
}

/// reorg_source of network.h for one element of the output, as a position in the input.
DOETUNE_DEVICE Position reorg_from(const Shape& input, int stride, int channel, int y, int x) {
  // As in Darknet, the output's elements are numbered as if it had the input's shape.
  const std::int64_t out_height = input.height / stride;
  const std::int64_t out_width = input.width / stride;
  const std::int64_t index = (channel * out_height + y) * out_width + x;
  const std::int64_t view_x = index % input.width;
  const std::int64_t view_y = index / input.width % input.height;
  const std::int64_t view_channel = index / input.width / input.height;
  const std::int64_t view_channels = input.channels / (stride * stride);
  const std::int64_t offset = view_channel / view_channels;
  const std::int64_t from_x = view_x * stride + offset % stride;
  const std::int64_t from_y = view_y * stride + offset / stride;
  const std::int64_t source = from_x + static_cast<std::int64_t>(input.width) * stride *
                                           (from_y + static_cast<std::int64_t>(input.height) *
                                                         stride * (view_channel % view_channels));
  const std::int64_t plane = static_cast<std::int64_t>(input.height) * input.width;
  return {0, static_cast<int>(source % plane / input.width), static_cast<int>(source % input.width),
          static_cast<int>(source / plane)};
}

/// An image whose planes follow one another: luma, Cb, Cr, without gaps between rows.
struct PlanarImage {
  const std::uint8_t* planes = nullptr;
  int width = 0;
  int height = 0;
  int chroma_width = 0;
  int chroma_height = 0;
  bool full_range = true;
};

DOETUNE_DEVICE std::int64_t luma_bytes(const PlanarImage& source) {
  return static_cast<std::int64_t>(source.width) * source.height;
}
DOETUNE_DEVICE std::int64_t chroma_bytes(const PlanarImage& source) {
  return static_cast<std::int64_t>(source.chroma_width) * source.chroma_height;
}

/// The two samples next to output sample `i`, and the weight of the second, as in Resizer.
struct Tap {
  int low, high;
  float fraction;
};
DOETUNE_DEVICE Tap tap(int from, int to, int i) {
  const double step = static_cast<double>(from) / to;
  double at = (i + 0.5) * step - 0.5;
  at = at < 0.0 ? 0.0 : at > from - 1.0 ? from - 1.0 : at;
  const int low = static_cast<int>(at);
  return {low, low + 1 < from ? low + 1 : from - 1, static_cast<float>(at - low)};
}

/// A plane interpolated between its samples, rows first, as in Resizer.
DOETUNE_DEVICE float sample(const std::uint8_t* plane, int width, const Tap& down,
                            const Tap& across) {
  const auto blended = [&](int x) {
    const auto low = static_cast<float>(plane[static_cast<std::int64_t>(down.low) * width + x]);
    const auto high = static_cast<float>(plane[static_cast<std::int64_t>(down.high) * width + x]);
    return low + down.fraction * (high - low);
  };
  const float low = blended(across.low);
  return low + across.fraction * (blended(across.high) - low);
}

struct Rgb {
  float red, green, blue;
};

/// One pixel of the image scaled to `size`, with Resizer's arithmetic to the last bit (where
/// products and sums are not contracted).
DOETUNE_DEVICE Rgb resized_pixel(const PlanarImage& source, const Extent& size, int y, int x) {
  const auto unit = [](float value) { return value < 0.0F ? 0.0F : value > 1.0F ? 1.0F : value; };
  const Tap chroma_down = tap(source.chroma_height, size.height, y);
  const Tap chroma_across = tap(source.chroma_width, size.width, x);
  const std::uint8_t* cb = source.planes + luma_bytes(source);
  const std::uint8_t* cr = cb + chroma_bytes(source);
  const float black = source.full_range ? 0.0F : 16.0F;
  const float luma_scale = 1.0F / (source.full_range ? 255.0F : 219.0F);
  const float chroma_scale = 1.0F / (source.full_range ? 255.0F : 224.0F);
  const float luma =
      luma_scale * (sample(source.planes, source.width, tap(source.height, size.height, y),
                           tap(source.width, size.width, x)) -
                    black);
  const float blue =
      chroma_scale * (sample(cb, source.chroma_width, chroma_down, chroma_across) - 128.0F);
  const float red =
      chroma_scale * (sample(cr, source.chroma_width, chroma_down, chroma_across) - 128.0F);
  return {unit(luma + 1.402F * red), unit(luma - 0.344136F * blue - 0.714136F * red),
          unit(luma + 1.772F * blue)};
}

/// A box above the threshold, with its index among all boxes of its image.
struct CandidateBox {
  Detection box;
  int index;
};

/// The geometry that decode_boxes (detection.h) needs.
struct BoxGrid {
  int rows = 0;
  int columns = 0;
  int anchors = 0;
  int classes = 0;
  float threshold = 0;
};

DOETUNE_DEVICE float sigmoid(float x) { return 1.0F / (1.0F + expf(-x)); }

/// decode_boxes for one anchor of one cell: whether the box reaches the confidence threshold, and
/// if so the box. `values` are its 5 + classes numbers; `index` counts (row, column, anchor).
DOETUNE_DEVICE bool decode_box(const BoxGrid& grid, const float* values, float anchor_width,
                               float anchor_height, int index, CandidateBox& found) {
  const float objectness = sigmoid(values[4]);
  if (objectness < grid.threshold) return false;
  const float* logits = values + 5;
  int likeliest = 0;
  for (int i = 1; i < grid.classes; ++i)
    if (logits[i] > logits[likeliest]) likeliest = i;
  float sum = 0;
  for (int i = 0; i < grid.classes; ++i) sum += expf(logits[i] - logits[likeliest]);
  const float confidence = objectness * (1.0F / sum);
  if (confidence < grid.threshold) return false;
  const auto columns = static_cast<float>(grid.columns);
  const auto rows = static_cast<float>(grid.rows);
  const int cell = index / grid.anchors;
  found.box.x = (static_cast<float>(cell % grid.columns) + sigmoid(values[0])) / columns;
  found.box.y = (static_cast<float>(cell / grid.columns) + sigmoid(values[1])) / rows;
  found.box.width = anchor_width * expf(values[2]) / columns;
  found.box.height = anchor_height * expf(values[3]) / rows;
  found.box.class_index = likeliest;
  found.box.confidence = confidence;
  found.index = index;
  return true;
}

}  // namespace doetune::workloads::cudnn
