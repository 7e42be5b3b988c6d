#include <algorithm>

#include "workloads/engines/cudnn/kernel_tools.cuh"
#include "workloads/engines/cudnn/kernels.h"

namespace doetune::workloads::cudnn {
namespace {

// -- input and output -----------------------------------------------------------------------------

template <class T>
__global__ void write_input_kernel(const float* from, int channels, View to, std::uint32_t count) {
  std::uint32_t index;
  if (!my_index(count, index)) return;
  const Position at = position_of(index, channels, to.height, to.width);
  static_cast<T*>(to.data)[pixel_at(to, at.image, at.y, at.x) + at.channel] =
      from_float<T>(from[index]);
}

template <class T>
__global__ void read_output_kernel(View from, int channels, float* to, std::uint32_t count) {
  std::uint32_t index;
  if (!my_index(count, index)) return;
  const Position at = position_of(index, channels, from.height, from.width);
  to[index] =
      to_float(static_cast<const T*>(from.data)[pixel_at(from, at.image, at.y, at.x) + at.channel]);
}

template <class T>
__global__ void load_image_kernel(PlanarImage source, View to, std::uint32_t count) {
  std::uint32_t index;
  if (!my_index(count, index)) return;
  const Position at = position_of(index, 1, to.height, to.width);
  const Rgb pixel = resized_pixel(source, {to.height, to.width}, at.y, at.x);
  T* out = static_cast<T*>(to.data) + pixel_at(to, 0, at.y, at.x);
  out[0] = from_float<T>(pixel.red);
  out[1] = from_float<T>(pixel.green);
  out[2] = from_float<T>(pixel.blue);
}

// -- layers ---------------------------------------------------------------------------------------

template <class T>
__global__ void max_pool_kernel(MaxPool pool, View from, View to, std::uint32_t count) {
  Position at;
  if (!my_group<T>(to, count, at)) return;
  const Range rows = window(at.y, pool.kernel, pool.stride, pool.pad_before, from.height);
  const Range columns = window(at.x, pool.kernel, pool.stride, pool.pad_before, from.width);
  float largest[Group<T>::kSize];
  for (float& value : largest) value = -INFINITY;
  for (int y = rows.begin; y < rows.end; ++y)
    for (int x = columns.begin; x < columns.end; ++x) {
      const Group<T> in = group_at<T>(from, at.image, y, x, at.channel);
      for (int i = 0; i < Group<T>::kSize; ++i)
        largest[i] = fmaxf(largest[i], to_float(in.values[i]));
    }
  Group<T> out;
  for (int i = 0; i < Group<T>::kSize; ++i) out.values[i] = from_float<T>(largest[i]);
  group_of<T>(to, at) = out;
}

template <class T>
__global__ void average_pool_kernel(AveragePool pool, View from, View to, std::uint32_t count) {
  Position at;
  if (!my_group<T>(to, count, at)) return;
  const Range rows = window(at.y, pool.kernel.height, pool.stride, pool.pad, from.height);
  const Range columns = window(at.x, pool.kernel.width, pool.stride, pool.pad, from.width);
  float sum[Group<T>::kSize] = {};
  for (int y = rows.begin; y < rows.end; ++y)
    for (int x = columns.begin; x < columns.end; ++x) {
      const Group<T> in = group_at<T>(from, at.image, y, x, at.channel);
      for (int i = 0; i < Group<T>::kSize; ++i) sum[i] += to_float(in.values[i]);
    }
  const auto area = static_cast<float>(pool.kernel.height * pool.kernel.width);
  Group<T> out;
  for (int i = 0; i < Group<T>::kSize; ++i) out.values[i] = from_float<T>(sum[i] / area);
  group_of<T>(to, at) = out;
}

template <class T>
__global__ void local_response_norm_kernel(LocalResponseNorm norm, View from, View to,
                                           std::uint32_t count) {
  Position at;
  if (!my_group<T>(to, count, at)) return;
  const T* pixel = static_cast<const T*>(from.data) + pixel_at(from, at.image, at.y, at.x);
  const float scale = norm.alpha / static_cast<float>(norm.size);
  Group<T> out;
  for (int i = 0; i < Group<T>::kSize; ++i) {
    const int channel = at.channel * Group<T>::kSize + i;
    const Range near = window(channel, norm.size, 1, norm.size / 2, from.channels);
    float squares = 0;
    for (int c = near.begin; c < near.end; ++c) squares += to_float(pixel[c]) * to_float(pixel[c]);
    out.values[i] =
        from_float<T>(to_float(pixel[channel]) / powf(norm.bias + scale * squares, norm.beta));
  }
  group_of<T>(to, at) = out;
}

template <class T>
__global__ void add_and_activate_kernel(float slope, View left, View right, View to,
                                        std::uint32_t count) {
  Position at;
  if (!my_group<T>(to, count, at)) return;
  Group<T> sum = group_at<T>(left, at.image, at.y, at.x, at.channel);
  Group<T> other{};
  if (right.data != nullptr) other = group_at<T>(right, at.image, at.y, at.x, at.channel);
  for (int i = 0; i < Group<T>::kSize; ++i) {
    float value = to_float(sum.values[i]);
    if (right.data != nullptr) value += to_float(other.values[i]);
    sum.values[i] = from_float<T>(activated(value, slope));
  }
  group_of<T>(to, at) = sum;
}

template <class T>
__global__ void upsample_kernel(int factor, View from, View to, std::uint32_t count) {
  Position at;
  if (!my_group<T>(to, count, at)) return;
  group_of<T>(to, at) = group_at<T>(from, at.image, at.y / factor, at.x / factor, at.channel);
}

template <class T>
__global__ void channel_arg_max_kernel(int channels, View from, View to, std::uint32_t count) {
  std::uint32_t index;
  if (!my_index(count, index)) return;
  const Position at = position_of(index, 1, to.height, to.width);
  const T* in = static_cast<const T*>(from.data) + pixel_at(from, at.image, at.y, at.x);
  int largest = 0;
  float value = to_float(in[0]);
  for (int first = 0; first < channels; first += Group<T>::kSize) {
    const Group<T> group = *reinterpret_cast<const Group<T>*>(in + first);
    for (int i = 0; i < Group<T>::kSize && first + i < channels; ++i)
      if (to_float(group.values[i]) > value) {
        value = to_float(group.values[i]);
        largest = first + i;
      }
  }
  T* out = static_cast<T*>(to.data) + pixel_at(to, at.image, at.y, at.x);
  for (int c = 0; c < to.channels; ++c)
    out[c] = from_float<T>(c == 0 ? static_cast<float>(largest) : 0.0F);
}

template <class T>
__global__ void reorg_kernel(int stride, Shape input, View from, View to, std::uint32_t count) {
  std::uint32_t index;
  if (!my_index(count, index)) return;
  const Position at = position_of(index, to.channels, to.height, to.width);
  T value = from_float<T>(0.0F);
  if (at.channel < input.channels * stride * stride) {
    const Position source = reorg_from(input, stride, at.channel, at.y, at.x);
    value = static_cast<const T*>(
        from.data)[pixel_at(from, at.image, source.y, source.x) + source.channel];
  }
  static_cast<T*>(to.data)[pixel_at(to, at.image, at.y, at.x) + at.channel] = value;
}

template <class T>
__global__ void copy_channels_kernel(int channels, View from, View to, std::uint32_t count) {
  std::uint32_t index;
  if (!my_index(count, index)) return;
  const Position at = position_of(index, to.channels, to.height, to.width);
  T value = from_float<T>(0.0F);
  if (at.channel < channels)
    value = static_cast<const T*>(from.data)[pixel_at(from, at.image, at.y, at.x) + at.channel];
  static_cast<T*>(to.data)[pixel_at(to, at.image, at.y, at.x) + at.channel] = value;
}

// -- boxes and numbers ----------------------------------------------------------------------------

__global__ void find_boxes_kernel(BoxGrid grid, const float* output, const float* anchors,
                                  CandidateBox* boxes, int* counts, std::uint32_t count) {
  std::uint32_t index;
  if (!my_index(count, index)) return;
  const auto boxes_each = static_cast<std::uint32_t>(grid.rows * grid.columns * grid.anchors);
  const std::uint32_t image = index / boxes_each;
  const auto box = static_cast<int>(index % boxes_each);
  const float* anchor = anchors + 2 * (box % grid.anchors);
  const float* values = output + static_cast<std::int64_t>(index) * (5 + grid.classes);
  CandidateBox found;
  if (!decode_box(grid, values, anchor[0], anchor[1], box, found)) return;
  boxes[static_cast<std::int64_t>(image) * boxes_each + atomicAdd(&counts[image], 1)] = found;
}

template <class T>
__global__ void fill_kernel(T* data, std::uint32_t count) {
  std::uint32_t index;
  if (!my_index(count, index)) return;
  const auto mixed = (index * 2654435761U) >> 8;  // Knuth's multiplicative hash
  data[index] = from_float<T>(static_cast<float>(mixed) * 0x1p-23F - 1.0F);
}

}  // namespace

void write_input(const Launch& launch, const float* from, int channels, const View& to) {
  typed(launch.precision, [&](auto zero) {
    start(launch, write_input_kernel<decltype(zero)>, in_range(pixels(launch, to) * channels), from,
          channels, to);
  });
}

void read_output(const Launch& launch, const View& from, int channels, float* to) {
  typed(launch.precision, [&](auto zero) {
    start(launch, read_output_kernel<decltype(zero)>, in_range(pixels(launch, from) * channels),
          from, channels, to);
  });
}

void load_image(const Launch& launch, const PlanarImage& source, const View& to) {
  typed(launch.precision, [&](auto zero) {
    start(launch, load_image_kernel<decltype(zero)>,
          in_range(static_cast<std::int64_t>(to.height) * to.width), source, to);
  });
}

void max_pool(const Launch& launch, const MaxPool& pool, const View& from, const View& to) {
  typed(launch.precision, [&](auto zero) {
    using T = decltype(zero);
    start(launch, max_pool_kernel<T>, groups<T>(launch, to), pool, from, to);
  });
}

void average_pool(const Launch& launch, const AveragePool& pool, const View& from, const View& to) {
  typed(launch.precision, [&](auto zero) {
    using T = decltype(zero);
    start(launch, average_pool_kernel<T>, groups<T>(launch, to), pool, from, to);
  });
}

void local_response_norm(const Launch& launch, const LocalResponseNorm& norm, const View& from,
                         const View& to) {
  typed(launch.precision, [&](auto zero) {
    using T = decltype(zero);
    start(launch, local_response_norm_kernel<T>, groups<T>(launch, to), norm, from, to);
  });
}

void add_and_activate(const Launch& launch, Activation activation, const View& left,
                      const View& right, const View& to) {
  typed(launch.precision, [&](auto zero) {
    using T = decltype(zero);
    start(launch, add_and_activate_kernel<T>, groups<T>(launch, to), negative_slope(activation),
          left, right, to);
  });
}

void upsample(const Launch& launch, const Upsample& op, const View& from, const View& to) {
  typed(launch.precision, [&](auto zero) {
    using T = decltype(zero);
    start(launch, upsample_kernel<T>, groups<T>(launch, to), op.factor, from, to);
  });
}

void channel_arg_max(const Launch& launch, int channels, const View& from, const View& to) {
  typed(launch.precision, [&](auto zero) {
    start(launch, channel_arg_max_kernel<decltype(zero)>, in_range(pixels(launch, to)), channels,
          from, to);
  });
}

void reorg(const Launch& launch, const Reorg& op, const Shape& input, const View& from,
           const View& to) {
  typed(launch.precision, [&](auto zero) {
    start(launch, reorg_kernel<decltype(zero)>, in_range(pixels(launch, to) * to.channels),
          op.stride, input, from, to);
  });
}

void copy_channels(const Launch& launch, int channels, const View& from, const View& to) {
  typed(launch.precision, [&](auto zero) {
    start(launch, copy_channels_kernel<decltype(zero)>, in_range(pixels(launch, to) * to.channels),
          channels, from, to);
  });
}

void find_boxes(const Launch& launch, const BoxGrid& grid, const float* output,
                const float* anchors, CandidateBox* boxes, int* counts) {
  check(cudaMemsetAsync(counts, 0, sizeof(int) * static_cast<std::size_t>(launch.images),
                        launch.stream),
        "clearing the counts of boxes");
  const std::int64_t count = std::int64_t{launch.images} * grid.rows * grid.columns * grid.anchors;
  start(launch, find_boxes_kernel, in_range(count), grid, output, anchors, boxes, counts);
}

void fill_with_numbers(const Launch& launch, void* data, std::int64_t count) {
  typed(launch.precision, [&](auto zero) {
    using T = decltype(zero);
    for (std::int64_t at = 0; at < count; at += kMax)
      start(launch, fill_kernel<T>, in_range(std::min(kMax, count - at)),
            static_cast<T*>(data) + at);
  });
}

}  // namespace doetune::workloads::cudnn
