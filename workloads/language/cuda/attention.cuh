// What kernels that read or write a cache of keys and values share.
#pragma once

#include <cuda_fp8.h>

#include <cstdint>

#include "workloads/engines/cudnn/kernel_tools.cuh"
#include "workloads/language/cuda/gpu_kernels.h"
#include "workloads/language/cuda/warp.cuh"

namespace doetune::workloads::language {

constexpr int kAttentionWarps = 4;  // of a block
constexpr int kAttentionThreads = kAttentionWarps * kWarp;
constexpr float kLowest = -1e30F;  // below every score; finite, so that differences are numbers

/// A head's keys and values in a block of the cache.
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

/// The positions that a block attends to: one of `splits` parts of 0 .. limit - 1, of a multiple of
/// `round` positions.
struct Part {
  int begin;
  int end;
};
__device__ inline Part part_of(int limit, int splits, int which, int round) {
  const int each = ((limit + splits - 1) / splits + round - 1) / round * round;
  const int begin = which * each;
  return {begin, begin + each < limit ? begin + each : limit};
}

/// What the warps of a block have of a query: the sum of values, weighted by exp2(score - largest),
/// the largest score, and the sum of weights.
template <int kQueries, int kWidth>
using Joined = float[kAttentionWarps][kQueries][kWidth + 2];

/// Joins what the warps have of query q, and writes the head's output or its part. Threads of the
/// block each call it.
template <class T, int kQueries, int kWidth>
__device__ void finish(const Joined<kQueries, kWidth>& joined, int q, int width, int splits,
                       std::int64_t head, float* parts, T* attended) {
  float largest = kLowest;
  for (int w = 0; w < kAttentionWarps; ++w) largest = fmaxf(largest, joined[w][q][kWidth]);
  float factor[kAttentionWarps];
  float weight = 0;
  for (int w = 0; w < kAttentionWarps; ++w) {
    factor[w] = exp2f(joined[w][q][kWidth] - largest);
    weight += factor[w] * joined[w][q][kWidth + 1];
  }
  float* part = parts + (head * splits + blockIdx.y) * (width + 2);
  for (int i = static_cast<int>(threadIdx.x); i < width; i += kAttentionThreads) {
    float value = 0;
    for (int w = 0; w < kAttentionWarps; ++w) value += factor[w] * joined[w][q][i];
    if (splits == 1)
      attended[head * width + i] = cudnn::from_float<T>(value / weight);
    else
      part[i] = value;
  }
  if (splits > 1 && threadIdx.x == 0) {
    part[width] = largest;
    part[width + 1] = weight;
  }
}

/// Calls work(Number{}) with the type of the cache's numbers.
template <class Work>
void cached(CacheType type, Work work) {
  if (type == CacheType::bf16) return work(__nv_bfloat16{});
  if (type == CacheType::int8) return work(std::int8_t{});
  if (type == CacheType::fp8) return work(__nv_fp8_e4m3{});
  work(float{});
}

}  // namespace doetune::workloads::language
