#include <algorithm>

#include "workloads/engines/cudnn/kernel_tools.cuh"
#include "workloads/engines/cudnn/training_kernels.h"
#include "workloads/networks/parameters.h"

namespace doetune::workloads::cudnn {
namespace {

// -- how work is divided --------------------------------------------------------------------------
// Neighbouring threads of a block take neighbouring groups of channels of the same row (pixel), and
// each thread takes every `lines`-th row of the block's, so that per-channel values stay in its
// registers.

constexpr int kMaxColumns = 32;
constexpr int kRowsEach = 4;  // at least, where there are enough
constexpr int kResident = 4;  // blocks on a multiprocessor; sets the registers of a thread
constexpr int kBlocks = kResident * 132;  // at most: as many as an H100 runs at a time

struct Tiling {
  int groups;   // of channels
  int columns;  // of threads
  int lines;
  int row_blocks;
  std::int64_t rows;

  dim3 grid() const {
    return {static_cast<unsigned int>((groups + columns - 1) / columns),
            static_cast<unsigned int>(row_blocks)};
  }
};

Tiling tiling_of(const Launch& launch, const View& tensor) {
  Tiling tiling{};
  tiling.groups = tensor.channels * bytes_of(launch.precision) / 16;
  tiling.columns = std::min(tiling.groups, kMaxColumns);
  tiling.lines = kThreads / tiling.columns;
  tiling.rows = pixels(launch, tensor);
  const std::int64_t wanted =
      (tiling.rows + tiling.lines * kRowsEach - 1) / (tiling.lines * kRowsEach);
  const auto max_blocks = std::max(1, kBlocks / static_cast<int>(tiling.grid().x));
  tiling.row_blocks = static_cast<int>(std::clamp<std::int64_t>(wanted, 1, max_blocks));
  return tiling;
}

/// Calls work(row) for each row of this thread, unless it has no group.
template <class Work>
__device__ void for_rows(const Tiling& tiling, int group, Work work) {
  const int line = static_cast<int>(threadIdx.x) / tiling.columns;
  if (line >= tiling.lines || group >= tiling.groups) return;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.y) * tiling.lines;
  for (std::int64_t row = static_cast<std::int64_t>(blockIdx.y) * tiling.lines + line;
       row < tiling.rows; row += step)
    work(row);
}

__device__ int my_group_of(const Tiling& tiling) {
  return static_cast<int>(blockIdx.x) * tiling.columns +
         static_cast<int>(threadIdx.x) % tiling.columns;
}

template <class T>
__device__ Group<T>& at_row(const View& view, std::int64_t row, int group) {
  return reinterpret_cast<Group<T>*>(static_cast<T*>(view.data) + row * view.pitch)[group];
}

/// The normalisation of each channel of this thread's group; nothing beyond the last group.
template <class T>
__device__ void load(const Tiling& tiling, const Normalisation* channels, int group,
                     Normalisation (&by)[Group<T>::kSize]) {
  if (group >= tiling.groups) return;
  for (int i = 0; i < Group<T>::kSize; ++i) by[i] = channels[group * Group<T>::kSize + i];
}

// -- sums over rows -------------------------------------------------------------------------------

/// Two sums of each channel over the rows of this block, to partial[row block][which][channel].
/// Every thread of the block must call it.
template <class T>
__device__ void keep_sums(const Tiling& tiling, const float (&first)[Group<T>::kSize],
                          const float (&second)[Group<T>::kSize], float* partial) {
  constexpr int kSize = Group<T>::kSize;
  __shared__ float all[2][kSize][kThreads];
  for (int i = 0; i < kSize; ++i) {
    all[0][i][threadIdx.x] = first[i];
    all[1][i][threadIdx.x] = second[i];
  }
  __syncthreads();
  const int column = static_cast<int>(threadIdx.x) % tiling.columns;
  const int group = my_group_of(tiling);
  const std::int64_t channels = static_cast<std::int64_t>(tiling.groups) * kSize;
  for (int i = static_cast<int>(threadIdx.x) / tiling.columns; i < kSize; i += tiling.lines)
    for (int which = 0; which < 2 && group < tiling.groups; ++which) {
      float sum = 0;
      for (int line = 0; line < tiling.lines; ++line)
        sum += all[which][i][line * tiling.columns + column];
      partial[(2 * static_cast<std::int64_t>(blockIdx.y) + which) * channels + group * kSize + i] =
          sum;
    }
}

// Eight channels are 32 bytes, what memory delivers at a time; 32 threads each, since 528 partial
// sums one after another would take longer than the sums themselves.
constexpr int kChannelsInBlock = 8;
constexpr int kParts = kThreads / kChannelsInBlock;

/// Adds up the partial sums of a channel; true in the one thread of the channel that holds the
/// result.
__device__ bool totals(const float* partial, int row_blocks, int channels, int& channel,
                       double (&sums)[2]) {
  __shared__ double all[2][kParts][kChannelsInBlock];
  const int lane = static_cast<int>(threadIdx.x) % kChannelsInBlock;
  const int part = static_cast<int>(threadIdx.x) / kChannelsInBlock;
  channel = static_cast<int>(blockIdx.x) * kChannelsInBlock + lane;
  for (int which = 0; which < 2; ++which) {
    double sum = 0;
    if (channel < channels)
      for (std::int64_t block = part; block < row_blocks; block += kParts)
        sum += static_cast<double>(partial[(2 * block + which) * channels + channel]);
    all[which][part][lane] = sum;
  }
  __syncthreads();
  if (part != 0 || channel >= channels) return false;
  for (int which = 0; which < 2; ++which) {
    sums[which] = 0;
    for (int each = 0; each < kParts; ++each) sums[which] += all[which][each][lane];
  }
  return true;
}

// -- batch normalisation --------------------------------------------------------------------------

template <class T>
__global__ void __launch_bounds__(kThreads, kResident)
    statistics_kernel(Tiling tiling, View x, float* partial) {
  constexpr int kSize = Group<T>::kSize;
  const int group = my_group_of(tiling);
  Group<T> origin{};
  if (group < tiling.groups) origin = at_row<T>(x, 0, group);
  ShiftedSums sums[kSize];
  for_rows(tiling, group, [&](std::int64_t row) {
    const Group<T> values = at_row<T>(x, row, group);
    for (int i = 0; i < kSize; ++i)
      add_value(sums[i], to_float(values.values[i]), to_float(origin.values[i]));
  });
  float first[kSize];
  float second[kSize];
  for (int i = 0; i < kSize; ++i) {
    first[i] = sums[i].first;
    second[i] = sums[i].second;
  }
  keep_sums<T>(tiling, first, second, partial);
}

template <class T>
__global__ void finish_statistics_kernel(const float* partial, int row_blocks, int channels,
                                         double count, View x, NormLayer layer, float momentum) {
  int c;
  double sums[2];
  if (!totals(partial, row_blocks, channels, c, sums)) return;
  if (c >= layer.filters) {
    layer.channels[c] = {};
    return;
  }
  const MeanVariance of =
      moments(sums[0], sums[1], to_float(static_cast<const T*>(x.data)[c]), count);
  layer.channels[c] = normalisation(of, kBatchNormEpsilon, layer.scale[c], layer.shift[c]);
  if (momentum <= 0) return;
  float& mean = layer.running[c];
  float& variance = layer.running[layer.filters + c];
  mean = running_statistic(mean, of.mean, momentum);
  variance = running_statistic(variance, unbiased(of.variance, count), momentum);
}

__global__ void running_statistics_kernel(NormLayer layer, std::uint32_t count) {
  std::uint32_t index;
  if (!my_index(count, index)) return;
  const auto c = static_cast<int>(index);
  layer.channels[c] = c < layer.filters
                          ? normalisation({layer.running[c], layer.running[layer.filters + c]},
                                          kBatchNormEpsilon, layer.scale[c], layer.shift[c])
                          : Normalisation{};
}

template <class T>
__global__ void __launch_bounds__(kThreads, kResident)
    normalise_kernel(Tiling tiling, const Normalisation* channels, float slope, View x,
                     View residual, View to) {
  constexpr int kSize = Group<T>::kSize;
  const int group = my_group_of(tiling);
  Normalisation by[kSize];
  load<T>(tiling, channels, group, by);
  for_rows(tiling, group, [&](std::int64_t row) {
    Group<T> values = at_row<T>(x, row, group);
    Group<T> other{};
    if (residual.data != nullptr) other = at_row<T>(residual, row, group);
    for (int i = 0; i < kSize; ++i) {
      float value = normalised(by[i], to_float(values.values[i]));
      if (residual.data != nullptr) value += to_float(other.values[i]);
      values.values[i] = from_float<T>(activated(value, slope));
    }
    at_row<T>(to, row, group) = values;
  });
}

/// The gradient with respect to the input of the activation, which is recomputed.
__device__ float before_activation(const Normalisation& by, float x, float gradient, float slope) {
  return gradient * activation_slope(normalised(by, x), slope);
}

template <class T>
__global__ void __launch_bounds__(kThreads, kResident)
    norm_gradients_kernel(Tiling tiling, const Normalisation* channels, float slope, View gradient,
                          View x, float* partial) {
  constexpr int kSize = Group<T>::kSize;
  const int group = my_group_of(tiling);
  Normalisation by[kSize];
  load<T>(tiling, channels, group, by);
  NormGradients sums[kSize];
  for_rows(tiling, group, [&](std::int64_t row) {
    const Group<T> values = at_row<T>(x, row, group);
    const Group<T> gradients = at_row<T>(gradient, row, group);
    for (int i = 0; i < kSize; ++i) {
      const float value = to_float(values.values[i]);
      add_gradient(sums[i], by[i], value,
                   before_activation(by[i], value, to_float(gradients.values[i]), slope));
    }
  });
  float first[kSize];
  float second[kSize];
  for (int i = 0; i < kSize; ++i) {
    first[i] = sums[i].shift;
    second[i] = sums[i].scale;
  }
  keep_sums<T>(tiling, first, second, partial);
}

__global__ void finish_norm_gradients_kernel(const float* partial, int row_blocks, int channels,
                                             double count, NormLayer layer, float* scale_gradient,
                                             float* shift_gradient, NormGradients* means) {
  int c;
  double sums[2];
  if (!totals(partial, row_blocks, channels, c, sums)) return;
  const Normalisation by = layer.channels[c];
  means[c] = gradient_means(by, sums[0], sums[1], count);
  if (c >= layer.filters) return;
  shift_gradient[c] = static_cast<float>(sums[0]);
  scale_gradient[c] = static_cast<float>(sums[1] * static_cast<double>(by.inverse));
}

template <class T>
__global__ void __launch_bounds__(kThreads, kResident)
    norm_input_kernel(Tiling tiling, const Normalisation* channels, const NormGradients* means,
                      float slope, View gradient, View x, View to) {
  constexpr int kSize = Group<T>::kSize;
  const int group = my_group_of(tiling);
  Normalisation by[kSize];
  load<T>(tiling, channels, group, by);
  NormGradients mean[kSize];
  for (int i = 0; i < kSize && group < tiling.groups; ++i) mean[i] = means[group * kSize + i];
  for_rows(tiling, group, [&](std::int64_t row) {
    const Group<T> values = at_row<T>(x, row, group);
    Group<T> gradients = at_row<T>(gradient, row, group);
    for (int i = 0; i < kSize; ++i) {
      const float value = to_float(values.values[i]);
      const float before = before_activation(by[i], value, to_float(gradients.values[i]), slope);
      gradients.values[i] = from_float<T>(input_gradient(by[i], mean[i], value, before));
    }
    at_row<T>(to, row, group) = gradients;
  });
}

// -- bias -----------------------------------------------------------------------------------------

template <class T>
__global__ void __launch_bounds__(kThreads, kResident)
    bias_gradients_kernel(Tiling tiling, float slope, View gradient, View out, View to,
                          float* partial) {
  constexpr int kSize = Group<T>::kSize;
  const int group = my_group_of(tiling);
  float sums[kSize] = {};
  const float no_sums[kSize] = {};
  for_rows(tiling, group, [&](std::int64_t row) {
    Group<T> gradients = at_row<T>(gradient, row, group);
    Group<T> results{};
    if (out.data != nullptr) results = at_row<T>(out, row, group);
    for (int i = 0; i < kSize; ++i) {
      float value = to_float(gradients.values[i]);
      if (out.data != nullptr) value *= activation_slope(to_float(results.values[i]), slope);
      sums[i] += value;
      gradients.values[i] = from_float<T>(value);
    }
    if (to.data != nullptr) at_row<T>(to, row, group) = gradients;
  });
  keep_sums<T>(tiling, sums, no_sums, partial);
}

__global__ void finish_bias_kernel(const float* partial, int row_blocks, int channels, int filters,
                                   float* bias_gradient) {
  int c;
  double sums[2];
  if (totals(partial, row_blocks, channels, c, sums) && c < filters)
    bias_gradient[c] = static_cast<float>(sums[0]);
}

// -- launching ------------------------------------------------------------------------------------

template <class Kernel, class... Arguments>
void start_tiled(const Launch& launch, const Tiling& tiling, Kernel kernel,
                 Arguments... arguments) {
  cuda::launch_kernel(launch.stream, tiling.grid(), kThreads, kernel, tiling, arguments...);
}

/// Launches enough threads for `totals` of all channels.
template <class Kernel, class... Arguments>
void start_totals(const Launch& launch, const Tiling& tiling, const View& tensor, Kernel kernel,
                  const float* partial, Arguments... arguments) {
  const auto blocks =
      static_cast<unsigned int>((tensor.channels + kChannelsInBlock - 1) / kChannelsInBlock);
  cuda::launch_kernel(launch.stream, blocks, kThreads, kernel, partial, tiling.row_blocks,
                      tensor.channels, arguments...);
}

}  // namespace

std::int64_t partial_sums(const Launch& launch, const View& tensor) {
  return std::int64_t{2} * tiling_of(launch, tensor).row_blocks * tensor.channels;
}

void take_statistics(const Launch& launch, const NormLayer& layer, float momentum, const View& x,
                     float* scratch) {
  const Tiling tiling = tiling_of(launch, x);
  typed(launch.precision, [&](auto zero) {
    using T = decltype(zero);
    start_tiled(launch, tiling, statistics_kernel<T>, x, scratch);
    start_totals(launch, tiling, x, finish_statistics_kernel<T>, scratch,
                 static_cast<double>(tiling.rows), x, layer, momentum);
  });
}

void use_running_statistics(const Launch& launch, const NormLayer& layer, int count) {
  start(launch, running_statistics_kernel, static_cast<std::uint32_t>(count), layer);
}

void normalise(const Launch& launch, const Normalisation* channels, Activation activation,
               const View& x, const View& residual, const View& to) {
  typed(launch.precision, [&](auto zero) {
    start_tiled(launch, tiling_of(launch, x), normalise_kernel<decltype(zero)>, channels,
                negative_slope(activation), x, residual, to);
  });
}

void normalise_back(const Launch& launch, const NormLayer& layer, Activation activation,
                    const View& gradient, const View& x, float* scale_gradient,
                    float* shift_gradient, float* scratch, const View& to) {
  const Tiling tiling = tiling_of(launch, x);
  const float slope = negative_slope(activation);
  auto* means = reinterpret_cast<NormGradients*>(scratch + partial_sums(launch, x));
  const Normalisation* channels = layer.channels;
  typed(launch.precision, [&](auto zero) {
    using T = decltype(zero);
    start_tiled(launch, tiling, norm_gradients_kernel<T>, channels, slope, gradient, x, scratch);
    start_totals(launch, tiling, x, finish_norm_gradients_kernel, scratch,
                 static_cast<double>(tiling.rows), layer, scale_gradient, shift_gradient, means);
    start_tiled(launch, tiling, norm_input_kernel<T>, channels, means, slope, gradient, x, to);
  });
}

void bias_back(const Launch& launch, Activation activation, int filters, const View& gradient,
               const View& out, float* bias_gradient, float* scratch, const View& to) {
  const Tiling tiling = tiling_of(launch, gradient);
  typed(launch.precision, [&](auto zero) {
    start_tiled(launch, tiling, bias_gradients_kernel<decltype(zero)>, negative_slope(activation),
                gradient, out, to, scratch);
    start_totals(launch, tiling, gradient, finish_bias_kernel, scratch, filters, bias_gradient);
  });
}

}  // namespace doetune::workloads::cudnn
