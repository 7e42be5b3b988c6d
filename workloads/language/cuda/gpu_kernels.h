// The kernels of a decoder on a GPU. Each function submits work to a stream.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "workloads/engines/engine.h"
#include "workloads/language/decoder.h"
#include "workloads/language/decoder_weights.h"

namespace doetune::workloads::language {

inline constexpr int kMaxHeadWidth = 256;
inline constexpr int kMaxSplits = 64;
inline constexpr int kMaxFewRows = 4;  ///< of multiply_few_rows

/// A token of a step.
struct alignas(16) StepRow {
  int token;
  int position;
  int table;  ///< where its sequence's blocks begin in the step's
  int unused;
};

/// Numbers of a step, before its rows.
struct alignas(16) StepHeader {
  int rows;
  int predictions;
  int tiles;
  int unused;
};

/// Consecutive rows of a sequence, whose queries are multiplied by the same keys at once.
struct StepTile {
  int first;
  int count;
};

/// What a step is given, in the memory of the GPU. A captured graph reads it anew at each launch,
/// so that steps of different sizes share one: what lies beyond the step's rows is left out.
struct StepView {
  const StepHeader* header;
  const StepRow* rows;
  const StepTile* tiles;
  const int* last;    ///< row before each prediction
  const int* blocks;  ///< of all sequences
};

/// Rows for which a launch has room.
struct StepLaunch {
  cudaStream_t stream = nullptr;
  int rows = 0;
  int predictions = 0;
  int tiles = 0;
  int splits = 1;         ///< parts into which each sequence is divided for the attention
  Precision precision{};  ///< of weights, and of what is multiplied by them
  CacheType cache{};
};

/// The cache of a layer: for each block and head of keys and values, keys (block_size x
/// head_width), values (likewise), and for int8 and fp8 the scales of the keys and those of the
/// values.
struct LayerCache {
  std::byte* first = nullptr;
  std::int64_t head_bytes = 0;
  std::uint32_t block_size = 0;
  std::uint32_t reciprocal = 0;  ///< 2^32 / block_size, rounded up: divides positions by it

  __host__ __device__ std::uint32_t block_of(std::uint32_t position) const {
    return static_cast<std::uint32_t>((std::uint64_t{position} * reciprocal) >> 32);
  }
};

struct HeadShape {
  int heads;
  int kv_heads;
  int width;  ///< of a head
};

/// to[i] = the i-th number of a tensor (decoder_weights.h).
void draw(cudaStream_t stream, Precision precision, const Draw& numbers, std::int64_t count,
          void* to);

/// x[row] = E[token]
void embed(const StepLaunch& launch, const StepView& step, const void* embedding, int width,
           float* x);

/// to[i] = norm(x[row], gains) (shape.h): of each row, or of those before a prediction.
void normalise(const StepLaunch& launch, const StepView& step, bool last_rows, const float* x,
               const void* gains, int width, void* to);

/// Rotates the queries in `projected` (a row: queries, keys, values), and keeps the rotated keys
/// and the values in the cache. `turns`: for each position and pair of elements, cosine and sine.
void rotate_and_keep(const StepLaunch& launch, const StepView& step, const HeadShape& shape,
                     const float2* turns, float* projected, const LayerCache& cache);

/// The rows of a tile: with the heads that share a head of keys, as many queries as a tensor core
/// multiplies at once.
__host__ __device__ constexpr int tile_rows(const HeadShape& shape) {
  int rows = 16;
  for (int heads = 1; heads < shape.heads / shape.kv_heads && rows > 1; heads *= 2) rows /= 2;
  return rows;
}

/// Bytes that the parts of sequences need.
std::int64_t attention_bytes(const HeadShape& shape, int rows, int splits);

/// attended[row] = attention (shape.h) of the row's queries over its sequence up to itself. One
/// pass over the cache with a running maximum (Milakov & Gimelshein 2018, arXiv:1805.02867; Dao et
/// al. 2022, arXiv:2205.14135), in parts that are joined where there are few rows (Dao, Haziza,
/// Massa & Sizov 2023, "Flash-Decoding").
void attend(const StepLaunch& launch, const StepView& step, const HeadShape& shape,
            const float* projected, const LayerCache& cache, float* parts, void* attended);

/// to[row] = silu(gates[:width]) gates[width:]
void gate(const StepLaunch& launch, const StepView& step, const float* gates, int width, void* to);

/// next[i] = the first of the largest of the i-th logits
void most_likely(const StepLaunch& launch, const StepView& step, const float* logits,
                 int vocabulary, int* next);

/// to[m][n] = sum over k of from[m][k] weights[n][k], or += where `add`, for at most kMaxFewRows
/// rows m, as fast as the weights can be read; k is a multiple of 16.
struct FewRows {
  const void* weights = nullptr;
  const void* from = nullptr;
  int rows = 0;
  int n = 0;
  int k = 0;
  float* to = nullptr;
  bool add = false;
  void* gated = nullptr;  ///< in place of `to`: silu of the first n / 2, times the others
};
void multiply_few_rows(cudaStream_t stream, Precision precision, const FewRows& product);

}  // namespace doetune::workloads::language
