#include <type_traits>

#include "workloads/language/cuda/attention.cuh"
#include "workloads/language/cuda/tile_attention.cuh"

namespace doetune::workloads::language {
namespace {

using cuda::launch_early;
using cuda::wait_for_previous;
using cudnn::from_float;
using cudnn::to_float;

__device__ inline float to_float(std::int8_t value) { return static_cast<float>(value); }
__device__ inline float to_float(__nv_fp8_e4m3 value) { return static_cast<float>(value); }

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
__global__ void __launch_bounds__(kAttentionThreads)
    attention_kernel(StepView step, Attention attention, const float* projected, float* parts,
                     T* attended) {
  __shared__ Joined<kQueries, kMaxHeadWidth> joined;
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

  const int teams = kAttentionThreads / attention.team;
  const int round = teams * kAtOnce;
  const auto [begin, end] =
      part_of(row.position + 1, attention.splits, static_cast<int>(blockIdx.y), round);
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
    const std::int64_t head =
        static_cast<std::int64_t>(task.row) * shape.heads + task.first_head + q;
    finish<T, kQueries, kMaxHeadWidth>(joined, q, shape.width, attention.splits, head, parts,
                                       attended);
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
  for (int i = static_cast<int>(threadIdx.x); i < shape.width; i += kAttentionThreads) {
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
    launch_early(launch.stream, blocks, kAttentionThreads, attention_kernel<T, Number, kQueries>,
                 step, attention, projected, parts, attended);
  };
  if (group == 1) return start(std::integral_constant<int, 1>{});
  if (group == 2) return start(std::integral_constant<int, 2>{});
  start(std::integral_constant<int, 4>{});
}

}  // namespace

std::int64_t attention_bytes(const HeadShape& shape, int rows, int splits) {
  return std::int64_t{rows} * shape.heads * splits * (shape.width + 2) *
         static_cast<std::int64_t>(sizeof(float));
}

void attend(const StepLaunch& launch, const StepView& step, const HeadShape& shape,
            const float* projected, const LayerCache& cache, float* parts, void* attended) {
  typed(launch.precision, [&]<class T>(T) {
    if (has_tiles(launch.precision, launch.cache, shape))
      attend_tiles(launch, step, shape, projected, cache, parts, attended);
    else
      cached(launch.cache, [&]<class Number>(Number) {
        start_attention<T, Number>(launch, step, shape, projected, cache, parts,
                                   static_cast<T*>(attended));
      });
    if (launch.splits > 1)
      launch_early(launch.stream, static_cast<unsigned int>(launch.rows * shape.heads),
                   kAttentionThreads, join_parts_kernel<T>, step, shape, launch.splits, parts,
                   static_cast<T*>(attended));
  });
}

}  // namespace doetune::workloads::language
