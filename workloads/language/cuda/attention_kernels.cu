#include <algorithm>

#include "workloads/engines/cudnn/kernel_tools.cuh"
#include "workloads/language/cuda/gpu_kernels.h"
#include "workloads/language/cuda/warp.cuh"

namespace doetune::workloads::language {
namespace {

using cuda::launch_early;
using cuda::wait_for_previous;
using cudnn::from_float;
using cudnn::to_float;

constexpr int kWarps = 4;  // of a block
constexpr int kThreads = kWarps * kWarp;
constexpr int kLanePairs = kMaxHeadWidth / 2 / kWarp;  // pairs of elements of a lane
constexpr float kLowest = -1e30F;  // below every score; finite, so that differences are numbers

__device__ inline float to_float(std::int8_t value) { return static_cast<float>(value); }

/// Numbers of a cache.
template <class Number>
__device__ Number kept(float value) {
  return from_float<Number>(value);
}
template <>
__device__ std::int8_t kept<std::int8_t>(float value) {
  return static_cast<std::int8_t>(rintf(value));
}

/// A head's keys and values in a block.
template <class Number>
struct Place {
  Number* keys;
  Number* values;
  float* scales;  // of the keys, then of the values
};

template <class Number>
__device__ Place<Number> place_of(const LayerCache& cache, const HeadShape& shape, int block,
                                  int kv_head) {
  const std::int64_t numbers = static_cast<std::int64_t>(cache.block_size) * shape.width;
  auto* keys = reinterpret_cast<Number*>(
      cache.first +
      (static_cast<std::int64_t>(block) * shape.kv_heads + kv_head) * cache.head_bytes);
  return {keys, keys + numbers, reinterpret_cast<float*>(keys + 2 * numbers)};
}

// -- keeping keys and values ----------------------------------------------------------------------

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
    constexpr float kLargest = 127;
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
  const int head = static_cast<int>(blockIdx.y) * kWarps + static_cast<int>(threadIdx.x) / kWarp;
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

// -- attention ------------------------------------------------------------------------------------
// A team of threads of a warp reads a key or value, eight elements a thread, for up to kQueries
// queries that share it; the teams of a block read positions in turn, and are joined at the end.

constexpr int kElements = 8;  // of a thread
constexpr int kAtOnce = 4;    // positions that a team reads before it computes

template <class Number>
struct alignas(sizeof(Number) * kElements < 16 ? sizeof(Number) * kElements : 16) Elements {
  Number values[kElements];
};

/// Of a query, what a thread has of the sum of values, weighted by exp2(score - largest).
struct Sums {
  float values[kElements];
  float largest;
  float weight;
};

__device__ void rescale(Sums& sums, float largest) {
  const float factor = exp2f(sums.largest - largest);
  for (float& value : sums.values) value *= factor;
  sums.weight *= factor;
  sums.largest = largest;
}

struct Attention {
  HeadShape shape;
  LayerCache cache;
  int team;          // threads of a team: a power of two
  int query_groups;  // of a head of keys and values
  int splits;
};

/// The queries of a block: those of one row that share a head of keys and values.
struct Task {
  int row;
  int kv_head;
  int first_head;
  int heads;
};

template <int kQueries>
__device__ Task task_of(const Attention& attention, int index) {
  const int per_row = attention.shape.kv_heads * attention.query_groups;
  const int in_row = index % per_row;
  const int kv_head = in_row / attention.query_groups;
  const int group = attention.shape.heads / attention.shape.kv_heads;
  const int first = in_row % attention.query_groups * kQueries;
  return {index / per_row, kv_head, kv_head * group + first,
          group - first < kQueries ? group - first : kQueries};
}

/// Joins the sums of lanes that differ in the bits from `mask` on.
template <int kQueries>
__device__ void join_teams(Sums (&sums)[kQueries], int team) {
  for (int mask = team; mask < kWarp; mask *= 2)
#pragma unroll
    for (int q = 0; q < kQueries; ++q) {
      rescale(sums[q], fmaxf(sums[q].largest, from_lane(sums[q].largest, mask)));
      sums[q].weight += from_lane(sums[q].weight, mask);
      for (float& value : sums[q].values) value += from_lane(value, mask);
    }
}

template <class T, class Number, int kQueries>
__global__ void __launch_bounds__(kThreads)
    attention_kernel(StepView step, Attention attention, const float* projected, float* parts,
                     T* attended) {
  __shared__ float joined[kWarps][kQueries][kMaxHeadWidth + 2];
  const HeadShape& shape = attention.shape;
  const Task task = task_of<kQueries>(attention, static_cast<int>(blockIdx.x));
  wait_for_previous();
  if (task.row >= step.header->rows) return;
  const StepRow row = step.rows[task.row];
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const int first = lane % attention.team * kElements;  // element of the head
  const bool active = first < shape.width;

  // Scores are in units of ln 2.
  const float scale = 1.44269504F / sqrtf(static_cast<float>(shape.width));
  const float* query_row = projected + static_cast<std::int64_t>(task.row) *
                                           (shape.heads + 2 * shape.kv_heads) * shape.width;
  float query[kQueries][kElements] = {};
  Sums sums[kQueries];
#pragma unroll
  for (int q = 0; q < kQueries; ++q) {
    sums[q] = {{}, kLowest, 0};
    if (!active || q >= task.heads) continue;
    for (int i = 0; i < kElements; ++i)
      query[q][i] = query_row[(task.first_head + q) * shape.width + first + i] * scale;
  }

  const int limit = row.position + 1;
  const int teams = kThreads / attention.team;
  const int round = teams * kAtOnce;
  const int each = ((limit + attention.splits - 1) / attention.splits + round - 1) / round * round;
  const int begin = static_cast<int>(blockIdx.y) * each;
  const int end = begin + each < limit ? begin + each : limit;
  const int my_team = static_cast<int>(threadIdx.x) / attention.team;
  for (int start = begin; start < end; start += round) {
    Elements<Number> keys[kAtOnce];
    Elements<Number> values[kAtOnce];
    float key_scale[kAtOnce];
    float value_scale[kAtOnce];
#pragma unroll
    for (int p = 0; p < kAtOnce; ++p) {
      // Beyond the end the last position is read again, and left out below.
      const int mine = start + p * teams + my_team;
      const auto position = static_cast<std::uint32_t>(mine < end ? mine : end - 1);
      const std::uint32_t block = attention.cache.block_of(position);
      const std::uint32_t slot = position - block * attention.cache.block_size;
      const Place<Number> place =
          place_of<Number>(attention.cache, shape, step.blocks[row.table + block], task.kv_head);
      if (active) {
        keys[p] =
            *reinterpret_cast<const Elements<Number>*>(place.keys + slot * shape.width + first);
        values[p] =
            *reinterpret_cast<const Elements<Number>*>(place.values + slot * shape.width + first);
      }
      if constexpr (sizeof(Number) == 1) {
        key_scale[p] = place.scales[slot];
        value_scale[p] = place.scales[attention.cache.block_size + slot];
      }
    }
#pragma unroll
    for (int q = 0; q < kQueries; ++q) {
      float score[kAtOnce];
      float largest = sums[q].largest;
#pragma unroll
      for (int p = 0; p < kAtOnce; ++p) {
        score[p] = 0;
        if (active)
          for (int i = 0; i < kElements; ++i) score[p] += query[q][i] * to_float(keys[p].values[i]);
        for (int mask = attention.team / 2; mask > 0; mask /= 2)
          score[p] += from_lane(score[p], mask);
        if constexpr (sizeof(Number) == 1) score[p] *= key_scale[p];
        if (start + p * teams + my_team >= end) score[p] = 2 * kLowest;
        largest = fmaxf(largest, score[p]);
      }
      rescale(sums[q], largest);
#pragma unroll
      for (int p = 0; p < kAtOnce; ++p) {
        const float weight = exp2f(score[p] - largest);
        sums[q].weight += weight;
        const float factor = sizeof(Number) == 1 ? weight * value_scale[p] : weight;
        if (active)
          for (int i = 0; i < kElements; ++i)
            sums[q].values[i] += factor * to_float(values[p].values[i]);
      }
    }
  }

  join_teams(sums, attention.team);
#pragma unroll
  for (int q = 0; q < kQueries; ++q) {
    if (lane >= attention.team || !active) continue;
    for (int i = 0; i < kElements; ++i) joined[warp][q][first + i] = sums[q].values[i];
    joined[warp][q][kMaxHeadWidth] = sums[q].largest;
    joined[warp][q][kMaxHeadWidth + 1] = sums[q].weight;
  }
  __syncthreads();
  for (int q = 0; q < task.heads; ++q) {
    float largest = kLowest;
    for (int w = 0; w < kWarps; ++w) largest = fmaxf(largest, joined[w][q][kMaxHeadWidth]);
    float factor[kWarps];
    float weight = 0;
    for (int w = 0; w < kWarps; ++w) {
      factor[w] = exp2f(joined[w][q][kMaxHeadWidth] - largest);
      weight += factor[w] * joined[w][q][kMaxHeadWidth + 1];
    }
    const std::int64_t head =
        static_cast<std::int64_t>(task.row) * shape.heads + task.first_head + q;
    float* part = parts + (head * attention.splits + blockIdx.y) * (shape.width + 2);
    for (int i = static_cast<int>(threadIdx.x); i < shape.width; i += kThreads) {
      float value = 0;
      for (int w = 0; w < kWarps; ++w) value += factor[w] * joined[w][q][i];
      if (attention.splits == 1)
        attended[head * shape.width + i] = from_float<T>(value / weight);
      else
        part[i] = value;
    }
    if (attention.splits > 1 && threadIdx.x == 0) {
      part[shape.width] = largest;
      part[shape.width + 1] = weight;
    }
  }
}

/// A block for each head of queries of a row.
template <class T>
__global__ void join_parts_kernel(StepView step, HeadShape shape, int splits, const float* parts,
                                  T* attended) {
  const auto head = static_cast<std::int64_t>(blockIdx.x);
  wait_for_previous();
  if (head / shape.heads >= step.header->rows) return;
  const float* mine = parts + head * splits * (shape.width + 2);
  float largest = kLowest;
  for (int s = 0; s < splits; ++s)
    largest = fmaxf(largest, mine[s * (shape.width + 2) + shape.width]);
  for (int i = static_cast<int>(threadIdx.x); i < shape.width; i += kThreads) {
    float value = 0;
    float weight = 0;
    for (int s = 0; s < splits; ++s) {
      const float* part = mine + s * (shape.width + 2);
      const float factor = exp2f(part[shape.width] - largest);
      value += factor * part[i];
      weight += factor * part[shape.width + 1];
    }
    attended[head * shape.width + i] = from_float<T>(value / weight);
  }
}

/// Calls work(Number{}) with the type of the cache's numbers.
template <class Work>
void cached(CacheType type, Work work) {
  if (type == CacheType::bf16) return work(__nv_bfloat16{});
  if (type == CacheType::int8) return work(std::int8_t{});
  work(float{});
}

template <class T, class Number>
void start_attention(const StepLaunch& launch, const StepView& step, const HeadShape& shape,
                     const float* projected, const LayerCache& cache, float* parts, T* attended) {
  const int group = shape.heads / shape.kv_heads;
  Attention attention{shape, cache, 1, 1, launch.splits};
  while (attention.team * kElements < shape.width) attention.team *= 2;
  const auto start = [&]<int kQueries>(std::integral_constant<int, kQueries>) {
    attention.query_groups = (group + kQueries - 1) / kQueries;
    const dim3 blocks(
        static_cast<unsigned int>(launch.rows * shape.kv_heads * attention.query_groups),
        static_cast<unsigned int>(launch.splits));
    launch_early(launch.stream, blocks, kThreads, attention_kernel<T, Number, kQueries>, step,
                 attention, projected, parts, attended);
  };
  if (group == 1) return start(std::integral_constant<int, 1>{});
  if (group == 2) return start(std::integral_constant<int, 2>{});
  start(std::integral_constant<int, 4>{});
}

}  // namespace

void rotate_and_keep(const StepLaunch& launch, const StepView& step, const HeadShape& shape,
                     const float2* turns, float* projected, const LayerCache& cache) {
  const int heads = shape.heads + 2 * shape.kv_heads;
  const dim3 blocks(static_cast<unsigned int>(launch.rows),
                    static_cast<unsigned int>((heads + kWarps - 1) / kWarps));
  cached(launch.cache, [&]<class Number>(Number) {
    launch_early(launch.stream, blocks, kThreads, rotate_and_keep_kernel<Number>, step, shape,
                 turns, projected, cache);
  });
}

std::int64_t attention_bytes(const HeadShape& shape, int rows, int splits) {
  return std::int64_t{rows} * shape.heads * splits * (shape.width + 2) *
         static_cast<std::int64_t>(sizeof(float));
}

void attend(const StepLaunch& launch, const StepView& step, const HeadShape& shape,
            const float* projected, const LayerCache& cache, float* parts, void* attended) {
  typed(launch.precision, [&]<class T>(T) {
    cached(launch.cache, [&]<class Number>(Number) {
      start_attention<T, Number>(launch, step, shape, projected, cache, parts,
                                 static_cast<T*>(attended));
    });
    if (launch.splits > 1)
      launch_early(launch.stream, static_cast<unsigned int>(launch.rows * shape.heads), kThreads,
                   join_parts_kernel<T>, step, shape, launch.splits, parts,
                   static_cast<T*>(attended));
  });
}

}  // namespace doetune::workloads::language
