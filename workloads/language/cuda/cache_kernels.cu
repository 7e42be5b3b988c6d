#include <type_traits>

#include "workloads/language/cuda/attention.cuh"

namespace doetune::workloads::language {
namespace {

using cuda::launch_early;
using cuda::wait_for_previous;
using cudnn::from_float;

constexpr int kLanePairs = kMaxHeadWidth / 2 / kWarp;  // pairs of elements of a lane

/// Numbers of a cache.
template <class Number>
__device__ Number kept(float value) {
  return from_float<Number>(value);
}
template <>
__device__ std::int8_t kept<std::int8_t>(float value) {
  return static_cast<std::int8_t>(rintf(value));
}
template <>
__device__ __nv_fp8_e4m3 kept<__nv_fp8_e4m3>(float value) {
  return __nv_fp8_e4m3(value);
}

/// A lane's elements of a head: i and i + width / 2 for i = lane, lane + kWarp, ...
struct LanePairs {
  float first[kLanePairs];
  float second[kLanePairs];
};

__device__ LanePairs read_pairs(const float* head, int width, int lane) {
  LanePairs pairs{};
#pragma unroll
  for (int k = 0; k < kLanePairs; ++k) {
    const int i = lane + k * kWarp;
    if (i >= width / 2) continue;
    pairs.first[k] = head[i];
    pairs.second[k] = head[i + width / 2];
  }
  return pairs;
}

__device__ void rotate(LanePairs& pairs, const float2* turns, int width, int lane) {
#pragma unroll
  for (int k = 0; k < kLanePairs; ++k) {
    const int i = lane + k * kWarp;
    if (i >= width / 2) continue;
    const float2 turn = turns[i];
    const float a = pairs.first[k];
    const float b = pairs.second[k];
    pairs.first[k] = a * turn.x - b * turn.y;
    pairs.second[k] = b * turn.x + a * turn.y;
  }
}

template <class Number>
__device__ void write_pairs(const LanePairs& pairs, float factor, int width, int lane, Number* to) {
#pragma unroll
  for (int k = 0; k < kLanePairs; ++k) {
    const int i = lane + k * kWarp;
    if (i >= width / 2) continue;
    to[i] = kept<Number>(pairs.first[k] * factor);
    to[i + width / 2] = kept<Number>(pairs.second[k] * factor);
  }
}

/// Every lane of the warp must call it.
template <class Number>
__device__ void keep(const LanePairs& pairs, int width, int lane, Number* to, float* scale) {
  float factor = 1;
  if constexpr (sizeof(Number) == 1) {
    constexpr float kLargest = std::is_same_v<Number, std::int8_t> ? 127 : 448;
    float largest = 0;
    for (int k = 0; k < kLanePairs; ++k)
      largest = fmaxf(largest, fmaxf(fabsf(pairs.first[k]), fabsf(pairs.second[k])));
    for (int mask = kWarp / 2; mask > 0; mask /= 2)
      largest = fmaxf(largest, from_lane(largest, mask));
    const float unit = largest > 0 ? largest / kLargest : 1;
    if (lane == 0) *scale = unit;
    factor = 1 / unit;
  }
  write_pairs(pairs, factor, width, lane, to);
}

/// A warp for each head of a row: queries, keys, values.
template <class Number>
__global__ void rotate_and_keep_kernel(StepView step, HeadShape shape, const float2* turns,
                                       float* projected, LayerCache cache) {
  const int row = static_cast<int>(blockIdx.x);
  const int head =
      static_cast<int>(blockIdx.y) * kAttentionWarps + static_cast<int>(threadIdx.x) / kWarp;
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  wait_for_previous();
  if (row >= step.header->rows || head >= shape.heads + 2 * shape.kv_heads) return;
  const StepRow at = step.rows[row];
  const int width = shape.width;
  float* mine =
      projected +
      (static_cast<std::int64_t>(row) * (shape.heads + 2 * shape.kv_heads) + head) * width;
  LanePairs pairs = read_pairs(mine, width, lane);
  const bool is_value = head >= shape.heads + shape.kv_heads;
  if (!is_value)
    rotate(pairs, turns + static_cast<std::int64_t>(at.position) * (width / 2), width, lane);
  if (head < shape.heads) return write_pairs(pairs, 1, width, lane, mine);
  const int kv_head = (head - shape.heads) % shape.kv_heads;
  const auto position = static_cast<std::uint32_t>(at.position);
  const std::uint32_t block = cache.block_of(position);
  const std::uint32_t slot = position - block * cache.block_size;
  const Place<Number> place =
      place_of<Number>(cache, shape, step.blocks[at.table + block], kv_head);
  keep(pairs, width, lane, (is_value ? place.values : place.keys) + slot * width,
       place.scales + (is_value ? cache.block_size : 0) + slot);
}

}  // namespace

void rotate_and_keep(const StepLaunch& launch, const StepView& step, const HeadShape& shape,
                     const float2* turns, float* projected, const LayerCache& cache) {
  const int heads = shape.heads + 2 * shape.kv_heads;
  const dim3 blocks(static_cast<unsigned int>(launch.rows),
                    static_cast<unsigned int>((heads + kAttentionWarps - 1) / kAttentionWarps));
  cached(launch.cache, [&]<class Number>(Number) {
    launch_early(launch.stream, blocks, kAttentionThreads, rotate_and_keep_kernel<Number>, step,
                 shape, turns, projected, cache);
  });
}

}  // namespace doetune::workloads::language
