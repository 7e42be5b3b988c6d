#include "workloads/engines/cudnn/training_kernels.h"

#include <algorithm>

#include "workloads/engines/cudnn/kernel_tools.cuh"
#include "workloads/engines/dropout.h"

namespace doetune::workloads::cudnn {
namespace {

constexpr int kWarp = 32;
constexpr unsigned int kAllLanes = 0xFFFFFFFF;

/// One byte for each channel of a group.
template <class T>
struct alignas(Group<T>::kSize) Bytes {
  std::uint8_t values[Group<T>::kSize];
};

/// Writes a group of sums, or adds it.
template <class T>
__device__ void put(Write write, const float (&sums)[Group<T>::kSize], Group<T>& to) {
  Group<T> out{};
  if (write == Write::add) out = to;
  for (int i = 0; i < Group<T>::kSize; ++i)
    out.values[i] =
        from_float<T>(write == Write::add ? to_float(out.values[i]) + sums[i] : sums[i]);
  to = out;
}

// -- pooling --------------------------------------------------------------------------------------

template <class T>
__global__ void max_pool_keeping_kernel(MaxPool pool, View from, View to, Bytes<T>* positions,
                                        std::uint32_t count) {
  Position at;
  if (!my_group<T>(to, count, at)) return;
  const Range rows = window(at.y, pool.kernel, pool.stride, pool.pad_before, from.height);
  const Range columns = window(at.x, pool.kernel, pool.stride, pool.pad_before, from.width);
  float largest[Group<T>::kSize];
  for (float& value : largest) value = -INFINITY;
  Bytes<T> positions_here;
  for (std::uint8_t& value : positions_here.values) value = 0xFF;
  for (int y = rows.begin; y < rows.end; ++y)
    for (int x = columns.begin; x < columns.end; ++x) {
      const Group<T> in = group_at<T>(from, at.image, y, x, at.channel);
      const auto here = static_cast<std::uint8_t>(position_in_window(pool, y, x, at.y, at.x));
      for (int i = 0; i < Group<T>::kSize; ++i) {
        const float value = to_float(in.values[i]);
        if (value <= largest[i]) continue;
        largest[i] = value;
        positions_here.values[i] = here;
      }
    }
  Group<T> out;
  for (int i = 0; i < Group<T>::kSize; ++i) out.values[i] = from_float<T>(largest[i]);
  group_of<T>(to, at) = out;
  positions[blockIdx.x * kThreads + threadIdx.x] = positions_here;
}

template <class T>
__global__ void max_pool_back_kernel(MaxPool pool, View gradient, const Bytes<T>* positions,
                                     Write write, View to, std::uint32_t count) {
  Position at;
  if (!my_group<T>(to, count, at)) return;
  const Range rows = windows_over(at.y, pool.kernel, pool.stride, pool.pad_before, gradient.height);
  const Range columns =
      windows_over(at.x, pool.kernel, pool.stride, pool.pad_before, gradient.width);
  const int groups = gradient.channels / Group<T>::kSize;
  float sums[Group<T>::kSize] = {};
  for (int y = rows.begin; y < rows.end; ++y)
    for (int x = columns.begin; x < columns.end; ++x) {
      const std::int64_t pixel =
          (static_cast<std::int64_t>(at.image) * gradient.height + y) * gradient.width + x;
      const Bytes<T> positions_here = positions[pixel * groups + at.channel];
      const Group<T> in = group_at<T>(gradient, at.image, y, x, at.channel);
      const int here = position_in_window(pool, at.y, at.x, y, x);
      for (int i = 0; i < Group<T>::kSize; ++i)
        if (positions_here.values[i] == here) sums[i] += to_float(in.values[i]);
    }
  put<T>(write, sums, group_of<T>(to, at));
}

template <class T>
__global__ void average_pool_back_kernel(AveragePool pool, View gradient, Write write, View to,
                                         std::uint32_t count) {
  Position at;
  if (!my_group<T>(to, count, at)) return;
  const Range rows = windows_over(at.y, pool.kernel.height, pool.stride, pool.pad, gradient.height);
  const Range columns =
      windows_over(at.x, pool.kernel.width, pool.stride, pool.pad, gradient.width);
  const auto area = static_cast<float>(pool.kernel.height * pool.kernel.width);
  float sums[Group<T>::kSize] = {};
  for (int y = rows.begin; y < rows.end; ++y)
    for (int x = columns.begin; x < columns.end; ++x) {
      const Group<T> in = group_at<T>(gradient, at.image, y, x, at.channel);
      for (int i = 0; i < Group<T>::kSize; ++i) sums[i] += to_float(in.values[i]) / area;
    }
  put<T>(write, sums, group_of<T>(to, at));
}

// -- other layers ---------------------------------------------------------------------------------

template <class T>
__global__ void response_back_kernel(LocalResponseNorm norm, View from, View gradient, Write write,
                                     View to, std::uint32_t count) {
  Position at;
  if (!my_group<T>(to, count, at)) return;
  const T* pixel = static_cast<const T*>(from.data) + pixel_at(from, at.image, at.y, at.x);
  const T* back = static_cast<const T*>(gradient.data) + pixel_at(gradient, at.image, at.y, at.x);
  float sums[Group<T>::kSize];
  for (int i = 0; i < Group<T>::kSize; ++i)
    sums[i] = response_gradient(
        norm, at.channel * Group<T>::kSize + i, from.channels,
        [&](int c) { return to_float(pixel[c]); }, [&](int c) { return to_float(back[c]); });
  put<T>(write, sums, group_of<T>(to, at));
}

template <class T>
__global__ void pass_back_kernel(float slope, View gradient, View out, Write write, View to,
                                 std::uint32_t count) {
  Position at;
  if (!my_group<T>(to, count, at)) return;
  const Group<T> in = group_at<T>(gradient, at.image, at.y, at.x, at.channel);
  Group<T> results{};
  if (out.data != nullptr) results = group_at<T>(out, at.image, at.y, at.x, at.channel);
  float sums[Group<T>::kSize];
  for (int i = 0; i < Group<T>::kSize; ++i) {
    sums[i] = to_float(in.values[i]);
    if (out.data != nullptr) sums[i] *= activation_slope(to_float(results.values[i]), slope);
  }
  put<T>(write, sums, group_of<T>(to, at));
}

template <class T>
__global__ void pass_channels_back_kernel(int channels, View gradient, Write write, View to,
                                          std::uint32_t count) {
  std::uint32_t index;
  if (!my_index(count, index)) return;
  const Position at = position_of(index, to.channels, to.height, to.width);
  float value = 0;
  if (at.channel < channels)
    value = to_float(static_cast<const T*>(
        gradient.data)[pixel_at(gradient, at.image, at.y, at.x) + at.channel]);
  T& element = static_cast<T*>(to.data)[pixel_at(to, at.image, at.y, at.x) + at.channel];
  element = from_float<T>(write == Write::add ? to_float(element) + value : value);
}

template <class T>
__global__ void drop_kernel(Dropout dropout, Shape input, View from, Write write, View to,
                            std::uint32_t count) {
  std::uint32_t index;
  if (!my_index(count, index)) return;
  const Position at = position_of(index, to.channels, to.height, to.width);
  const std::uint64_t key = dropout_key(dropout.seed, *dropout.step, dropout.layer);
  float value = 0;
  if (at.channel < input.channels)
    value = to_float(static_cast<const T*>(
                from.data)[pixel_at(from, at.image, at.y, at.x) + at.channel]) *
            dropout_factor(key, dropout_index(dropout.first_image, input, at), dropout.probability);
  T& element = static_cast<T*>(to.data)[pixel_at(to, at.image, at.y, at.x) + at.channel];
  element = from_float<T>(write == Write::add ? to_float(element) + value : value);
}

/// One warp per image.
template <class T>
__global__ void cross_entropy_kernel(int classes, View logits, const std::int32_t* labels,
                                     float* losses, std::int32_t* correct, View gradient,
                                     int images, std::uint32_t count) {
  std::uint32_t index;
  if (!my_index(count, index)) return;  // whole warps: count is a multiple of the warp size
  const auto image = static_cast<int>(index / kWarp);
  const auto lane = static_cast<int>(index % kWarp);
  const T* of_image = static_cast<const T*>(logits.data) + pixel_at(logits, image, 0, 0);
  Largest largest{-INFINITY, classes};
  for (int c = lane; c < classes; c += kWarp) largest = larger(largest, {to_float(of_image[c]), c});
  for (int step = kWarp / 2; step > 0; step /= 2)
    largest = larger(largest, {__shfl_xor_sync(kAllLanes, largest.value, step),
                               __shfl_xor_sync(kAllLanes, largest.index, step)});
  double sum = 0;
  for (int c = lane; c < classes; c += kWarp)
    sum += static_cast<double>(expf(to_float(of_image[c]) - largest.value));
  for (int step = kWarp / 2; step > 0; step /= 2) sum += __shfl_xor_sync(kAllLanes, sum, step);
  const std::int32_t label = labels[image];
  if (lane == 0) {
    losses[image] = cross_entropy(to_float(of_image[label]), largest.value, sum);
    correct[image] = largest.index == label ? 1 : 0;
  }
  if (gradient.data == nullptr) return;
  T* back = static_cast<T*>(gradient.data) + pixel_at(gradient, image, 0, 0);
  for (int c = lane; c < gradient.channels; c += kWarp)
    back[c] = from_float<T>(
        c < classes ? logit_gradient(to_float(of_image[c]), largest.value, sum, c == label, images)
                    : 0.0F);
}

}  // namespace

void max_pool_keeping(const Launch& launch, const MaxPool& pool, const View& from, const View& to,
                      std::uint8_t* positions) {
  typed(launch.precision, [&](auto zero) {
    using T = decltype(zero);
    start(launch, max_pool_keeping_kernel<T>, groups<T>(launch, to), pool, from, to,
          reinterpret_cast<Bytes<T>*>(positions));
  });
}

void max_pool_back(const Launch& launch, const MaxPool& pool, const View& gradient,
                   const std::uint8_t* positions, Write write, const View& to) {
  typed(launch.precision, [&](auto zero) {
    using T = decltype(zero);
    start(launch, max_pool_back_kernel<T>, groups<T>(launch, to), pool, gradient,
          reinterpret_cast<const Bytes<T>*>(positions), write, to);
  });
}

void average_pool_back(const Launch& launch, const AveragePool& pool, const View& gradient,
                       Write write, const View& to) {
  typed(launch.precision, [&](auto zero) {
    using T = decltype(zero);
    start(launch, average_pool_back_kernel<T>, groups<T>(launch, to), pool, gradient, write, to);
  });
}

void local_response_norm_back(const Launch& launch, const LocalResponseNorm& norm, const View& from,
                              const View& gradient, Write write, const View& to) {
  typed(launch.precision, [&](auto zero) {
    using T = decltype(zero);
    start(launch, response_back_kernel<T>, groups<T>(launch, to), norm, from, gradient, write, to);
  });
}

void pass_back(const Launch& launch, Activation activation, const View& gradient, const View& out,
               Write write, const View& to) {
  typed(launch.precision, [&](auto zero) {
    using T = decltype(zero);
    start(launch, pass_back_kernel<T>, groups<T>(launch, to), negative_slope(activation), gradient,
          out, write, to);
  });
}

void pass_channels_back(const Launch& launch, int channels, const View& gradient, Write write,
                        const View& to) {
  typed(launch.precision, [&](auto zero) {
    start(launch, pass_channels_back_kernel<decltype(zero)>,
          in_range(pixels(launch, to) * to.channels), channels, gradient, write, to);
  });
}

void drop(const Launch& launch, const Dropout& dropout, const Shape& input, const View& from,
          Write write, const View& to) {
  typed(launch.precision, [&](auto zero) {
    start(launch, drop_kernel<decltype(zero)>, in_range(pixels(launch, to) * to.channels), dropout,
          input, from, write, to);
  });
}

void softmax_cross_entropy(const Launch& launch, int classes, const View& logits,
                           const std::int32_t* labels, float* losses, std::int32_t* correct,
                           const View& gradient) {
  typed(launch.precision, [&](auto zero) {
    start(launch, cross_entropy_kernel<decltype(zero)>,
          in_range(std::int64_t{launch.images} * kWarp), classes, logits, labels, losses, correct,
          gradient, launch.images);
  });
}

}  // namespace doetune::workloads::cudnn
