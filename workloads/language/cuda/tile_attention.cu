#include "workloads/language/cuda/tile_attention.cuh"

#include <type_traits>

#include "workloads/language/cuda/attention.cuh"
#include "workloads/language/cuda/tensor_core.cuh"

namespace doetune::workloads::language {
namespace {

using cuda::launch_early;
using cuda::wait_for_previous;

constexpr int kQueries = 16;    // rows of a product: each is a row of the step and a head
constexpr int kPositions = 16;  // that a warp multiplies at once
constexpr int kMaxGroup = 16;

// The lanes of a warp, as in tensor_core.cuh: quad q = lane / 4, t = lane % 4. The order of the
// inner index of a product is free, so lanes share a key or value by pieces of up to 16 bytes in
// turn, and what they read at once lies together:
//   scores: t has the pieces t, t + 4, t + 8, .. of the keys at positions q and q + 8
//   values: q has the pieces q, q + 8, .. of the values at positions 2 t, 2 t + 1, 2 t + 8, 2 t + 9

/// What one of kLanes lanes has of a row of kWidth numbers.
template <class Number, int kWidth, int kLanes>
struct Share {
  static constexpr int kCount = kWidth / kLanes;
  static constexpr int kMost = 16 / static_cast<int>(sizeof(Number));
  static constexpr int kPiece = kCount < kMost ? kCount : kMost;

  struct alignas(sizeof(Number) * kPiece) Piece {
    Number values[kPiece];
  };
  Piece pieces[kCount / kPiece];

  /// Where number i of the lane is in the row.
  static __device__ constexpr int place(int lane, int i) {
    return (i / kPiece * kLanes + lane) * kPiece + i % kPiece;
  }
  __device__ Number operator[](int i) const { return pieces[i / kPiece].values[i % kPiece]; }
  __device__ void read(const Number* row, int lane) {
#pragma unroll
    for (int p = 0; p < kCount / kPiece; ++p)
      pieces[p] = *reinterpret_cast<const Piece*>(row + place(lane, p * kPiece));
  }
};
template <class Number, int kWidth>
using KeyShare = Share<Number, kWidth, 4>;
template <class Number, int kWidth>
using ValueShare = Share<Number, kWidth, 8>;

/// Two numbers as a pair of bfloat16; those of a cache exactly.
__device__ std::uint32_t pair_of(__nv_bfloat16 first, __nv_bfloat16 second) {
  const std::uint32_t upper = __bfloat16_as_ushort(second);
  return __bfloat16_as_ushort(first) | upper << 16;
}
__device__ std::uint32_t rounded_pair(float first, float second) {
  return pair_of(__float2bfloat16_rn(first), __float2bfloat16_rn(second));
}
__device__ std::uint32_t pair_of(std::int8_t first, std::int8_t second) {
  return rounded_pair(static_cast<float>(first), static_cast<float>(second));
}
__device__ std::uint32_t pair_of(__nv_fp8_e4m3 first, __nv_fp8_e4m3 second) {
  __nv_fp8x2_e4m3 both;
  both.__x = static_cast<__nv_fp8x2_storage_t>(first.__x | second.__x << 8);
  const auto numbers = static_cast<float2>(both);
  return rounded_pair(numbers.x, numbers.y);
}

struct TileAttention {
  HeadShape shape;
  LayerCache cache;
  int splits;
};

/// A query of a tile: row m of its products.
struct TileQuery {
  bool valid;
  int row;       // of the step
  int head;      // of the row's
  int position;  // up to which it attends; -1 where it is not valid
};

__device__ TileQuery query_of(const StepView& step, const HeadShape& shape, const StepTile& tile,
                              int kv_head, int m) {
  const int group = shape.heads / shape.kv_heads;
  const int heads = kQueries / tile_rows(shape);
  const int row = m / heads;
  const bool valid = row < tile.count && m % heads < group;
  return {valid, tile.first + row, kv_head * group + m % heads,
          valid ? step.rows[tile.first + row].position : -1};
}

/// A lane's part of the queries, multiplied by `scale`.
template <int kWidth>
struct Queries {
  std::uint32_t values[kWidth / 16][4];
};

template <class Number, int kWidth>
__device__ Queries<kWidth> read_queries(const float* projected, const HeadShape& shape,
                                        const TileQuery (&mine)[2], float scale, int t) {
  Queries<kWidth> queries{};
  const std::int64_t row_width =
      static_cast<std::int64_t>(shape.heads + 2 * shape.kv_heads) * kWidth;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    if (!mine[half].valid) continue;
    const float* row = projected + mine[half].row * row_width + mine[half].head * kWidth;
#pragma unroll
    for (int s = 0; s < kWidth / 16; ++s) {
      const float* from = row + KeyShare<Number, kWidth>::place(t, 4 * s);
      queries.values[s][half] = rounded_pair(from[0] * scale, from[1] * scale);
      queries.values[s][half + 2] = rounded_pair(from[2] * scale, from[3] * scale);
    }
  }
  return queries;
}

/// What a lane has of its two queries, q and q + 8.
template <int kWidth>
struct TileSums {
  float values[kWidth / 8][4] = {};
  float largest[2] = {kLowest, kLowest};
  float weight[2] = {};
};

/// Of the positions that a lane reads.
template <class Number, int kWidth>
struct Read {
  KeyShare<Number, kWidth> keys[2];
  ValueShare<Number, kWidth> values[4];
  float key_scales[2][2];  // of the positions 2 t and 2 t + 1 of each eight
  float value_scales[2][2];
};

/// The positions from `start`; beyond `end` the last one again, which is left out later.
template <class Number, int kWidth>
__device__ Read<Number, kWidth> read(const TileAttention& attention, const int* blocks, int kv_head,
                                     int start, int end, int quad, int t) {
  Read<Number, kWidth> result;
  const auto place = [&](int offset, std::uint32_t& slot) {
    const int position = start + offset;
    const auto last = static_cast<std::uint32_t>(position < end ? position : end - 1);
    const std::uint32_t block = attention.cache.block_of(last);
    slot = last - block * attention.cache.block_size;
    return place_of<Number>(attention.cache, attention.shape, blocks[block], kv_head);
  };
#pragma unroll
  for (int j = 0; j < 2; ++j) {
    std::uint32_t slot;
    const Place<Number> at = place(8 * j + quad, slot);
    result.keys[j].read(at.keys + slot * kWidth, t);
  }
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    std::uint32_t slot;
    const Place<Number> at = place(2 * t + k % 2 + k / 2 * 8, slot);
    result.values[k].read(at.values + slot * kWidth, quad);
    if constexpr (sizeof(Number) == 1) {
      result.key_scales[k / 2][k % 2] = at.scales[slot];
      result.value_scales[k / 2][k % 2] = at.scales[attention.cache.block_size + slot];
    }
  }
  return result;
}

/// score[j][c] of position 8 j + 2 t + c % 2 for query q + 8 (c / 2).
template <class Number, int kWidth>
__device__ void scores(const Queries<kWidth>& queries, const Read<Number, kWidth>& from,
                       float (&score)[2][4]) {
#pragma unroll
  for (int j = 0; j < 2; ++j) {
#pragma unroll
    for (float& each : score[j]) each = 0;
#pragma unroll
    for (int s = 0; s < kWidth / 16; ++s) {
      const auto& key = from.keys[j];
      const std::uint32_t b[2] = {pair_of(key[4 * s], key[4 * s + 1]),
                                  pair_of(key[4 * s + 2], key[4 * s + 3])};
      multiply_add(score[j], queries.values[s], b);
    }
    if constexpr (sizeof(Number) == 1)
#pragma unroll
      for (int c = 0; c < 4; ++c) score[j][c] *= from.key_scales[j][c % 2];
  }
}

/// Adds the values at the positions, weighted by their scores.
template <class Number, int kWidth>
__device__ void add_values(const Read<Number, kWidth>& from, const float (&score)[2][4],
                           TileSums<kWidth>& sums) {
  float weight[2][4];
  float factor[2];
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    float largest = sums.largest[half];
#pragma unroll
    for (int j = 0; j < 2; ++j)
      largest = fmaxf(largest, fmaxf(score[j][2 * half], score[j][2 * half + 1]));
    for (int mask = 1; mask < 4; mask *= 2) largest = fmaxf(largest, from_lane(largest, mask));
    factor[half] = exp2f(sums.largest[half] - largest);
    sums.largest[half] = largest;
    sums.weight[half] *= factor[half];
#pragma unroll
    for (int j = 0; j < 2; ++j)
#pragma unroll
      for (int c = 0; c < 2; ++c) {
        const float each = exp2f(score[j][2 * half + c] - largest);
        sums.weight[half] += each;
        weight[j][2 * half + c] = sizeof(Number) == 1 ? each * from.value_scales[j][c] : each;
      }
  }
  const std::uint32_t a[4] = {
      rounded_pair(weight[0][0], weight[0][1]), rounded_pair(weight[0][2], weight[0][3]),
      rounded_pair(weight[1][0], weight[1][1]), rounded_pair(weight[1][2], weight[1][3])};
#pragma unroll
  for (int n = 0; n < kWidth / 8; ++n) {
#pragma unroll
    for (int c = 0; c < 4; ++c) sums.values[n][c] *= factor[c / 2];
    const std::uint32_t b[2] = {pair_of(from.values[0][n], from.values[1][n]),
                                pair_of(from.values[2][n], from.values[3][n])};
    multiply_add(sums.values[n], a, b);
  }
}

/// A block for a tile and a head of keys and values; its warps read positions in turn.
template <class Number, int kWidth>
__global__ void __launch_bounds__(kAttentionThreads, kTileBlocks)
    tile_attention_kernel(StepView step, TileAttention attention, const float* projected,
                          float* parts, __nv_bfloat16* attended) {
  __shared__ Joined<kQueries, kWidth> joined;
  const HeadShape& shape = attention.shape;
  const int number = static_cast<int>(blockIdx.x) / shape.kv_heads;
  const int kv_head = static_cast<int>(blockIdx.x) % shape.kv_heads;
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  const int quad = static_cast<int>(threadIdx.x) % kWarp / 4;
  const int t = static_cast<int>(threadIdx.x) % 4;
  wait_for_previous();
  if (number >= step.header->tiles) return;
  const StepTile tile = step.tiles[number];
  const TileQuery mine[2] = {query_of(step, shape, tile, kv_head, quad),
                             query_of(step, shape, tile, kv_head, quad + 8)};
  // Scores are in units of ln 2.
  const float scale = 1.44269504F / sqrtf(static_cast<float>(kWidth));
  const Queries<kWidth> queries = read_queries<Number, kWidth>(projected, shape, mine, scale, t);

  const StepRow last = step.rows[tile.first + tile.count - 1];
  constexpr int kRound = kAttentionWarps * kPositions;
  const auto [begin, end] =
      part_of(last.position + 1, attention.splits, static_cast<int>(blockIdx.y), kRound);
  TileSums<kWidth> sums;
  for (int start = begin + warp * kPositions; start < end; start += kRound) {
    const auto from =
        read<Number, kWidth>(attention, step.blocks + last.table, kv_head, start, end, quad, t);
    float score[2][4];
    scores<Number, kWidth>(queries, from, score);
#pragma unroll
    for (int j = 0; j < 2; ++j)
#pragma unroll
      for (int c = 0; c < 4; ++c) {
        const int position = start + 8 * j + 2 * t + c % 2;
        if (position >= end || position > mine[c / 2].position) score[j][c] = 2 * kLowest;
      }
    add_values<Number, kWidth>(from, score, sums);
  }

#pragma unroll
  for (int half = 0; half < 2; ++half) {
    for (int mask = 1; mask < 4; mask *= 2) sums.weight[half] += from_lane(sums.weight[half], mask);
    float* to = joined[warp][quad + 8 * half];
#pragma unroll
    for (int n = 0; n < kWidth / 8; ++n)
#pragma unroll
      for (int c = 0; c < 2; ++c)
        to[ValueShare<Number, kWidth>::place(2 * t + c, n)] = sums.values[n][2 * half + c];
    if (t == 0) {
      to[kWidth] = sums.largest[half];
      to[kWidth + 1] = sums.weight[half];
    }
  }
  __syncthreads();
  for (int m = 0; m < kQueries; ++m) {
    const TileQuery query = query_of(step, shape, tile, kv_head, m);
    if (query.valid)
      finish<__nv_bfloat16, kQueries, kWidth>(
          joined, m, kWidth, attention.splits,
          static_cast<std::int64_t>(query.row) * shape.heads + query.head, parts, attended);
  }
}

}  // namespace

bool has_tiles(Precision precision, CacheType cache, const HeadShape& shape) {
  return precision == Precision::bf16 && cache != CacheType::fp32 &&
         (shape.width == 64 || shape.width == 128) && shape.heads / shape.kv_heads <= kMaxGroup;
}

void attend_tiles(const StepLaunch& launch, const StepView& step, const HeadShape& shape,
                  const float* projected, const LayerCache& cache, float* parts, void* attended) {
  const dim3 blocks(static_cast<unsigned int>(launch.tiles * shape.kv_heads),
                    static_cast<unsigned int>(launch.splits));
  const auto start = [&]<class Number, int kWidth>(Number, std::integral_constant<int, kWidth>) {
    launch_early(launch.stream, blocks, kAttentionThreads, tile_attention_kernel<Number, kWidth>,
                 step, TileAttention{shape, cache, launch.splits}, projected, parts,
                 static_cast<__nv_bfloat16*>(attended));
  };
  const auto of_width = [&](auto number) {
    if (shape.width == 64) return start(number, std::integral_constant<int, 64>{});
    start(number, std::integral_constant<int, 128>{});
  };
  if (launch.cache == CacheType::int8) return of_width(std::int8_t{});
  if (launch.cache == CacheType::fp8) return of_width(__nv_fp8_e4m3{});
  of_width(__nv_bfloat16{});
}

}  // namespace doetune::workloads::language
