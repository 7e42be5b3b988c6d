// The attention kernel for one number of queries, one type of cache and one vector width.
#pragma once

#include <algorithm>
#include <cmath>

#include "workloads/language/cpu/kernels.h"
#include "workloads/language/cpu/vectors.h"

namespace doetune::workloads::language {

/// `Number` is that of the cache: float, std::uint16_t (bfloat16), or with scales std::int8_t or
/// std::uint8_t (fp8).
template <class Number, int kQueries, int kLanes>
class AttentionLoops {
 public:
  /// Queries first .. first + kQueries - 1.
  static DOETUNE_INLINE void run(const AttentionWork& work, int first) {
    constexpr float kLowest = -1e30F;
    const CachedHead& head = work.head;
    const Query* queries = work.queries + first;
    int longest = 0;
    for (int q = 0; q < kQueries; ++q) longest = std::max(longest, queries[q].limit);
    const std::int64_t numbers = std::int64_t{head.head_width} * head.block_size;
    float scores[kQueries][kMaxBlockSize];
    float maximum[kQueries];
    float total[kQueries] = {};
    std::fill_n(maximum, kQueries, kLowest);
    for (int q = 0; q < kQueries; ++q) std::fill_n(queries[q].output, head.head_width, 0.0F);
    for (int begin = 0; begin < longest; begin += head.block_size) {
      const auto* keys = reinterpret_cast<const Number*>(
          head.first + work.blocks[begin / head.block_size] * head.block_stride);
      const Number* values = keys + numbers;
      const auto* scales = reinterpret_cast<const float*>(values + numbers);
      const int count = std::min(head.block_size, longest - begin);
      const int padded = (count + kStrip - 1) / kStrip * kStrip;
      for (int at = 0; at < padded; at += kStrip) score(head, queries, keys, scales, at, scores);
      for (int q = 0; q < kQueries; ++q) {
        std::fill(scores[q] + std::clamp(queries[q].limit - begin, 0, padded), scores[q] + padded,
                  kLowest);
        weigh(scores[q], padded, maximum[q], total[q], queries[q].output, head.head_width);
        if constexpr (kScaled)
          for (int i = 0; i < count; ++i) scores[q][i] *= scales[head.block_size + i];
      }
      for (int at = 0; at < head.head_width; at += kStrip)
        add(head, queries, values, count, at, scores);
    }
    for (int q = 0; q < kQueries; ++q)
      for (int i = 0; i < head.head_width; ++i) queries[q].output[i] /= total[q];
  }

 private:
  static constexpr int kParts = kStrip / kLanes;
  static constexpr bool kScaled = sizeof(Number) == 1;
  using Vector = Floats<kLanes>;

  /// Scores of the positions at .. at + 15 of a block.
  static DOETUNE_INLINE void score(const CachedHead& head, const Query* queries, const Number* keys,
                                   const float* scales, int at,
                                   float (&scores)[kQueries][kMaxBlockSize]) {
    const int width = head.head_width;
    Vector sums[kQueries][kParts] = {};
    for (int i = 0; i < width; ++i) {
      Vector key[kParts];
      DOETUNE_UNROLL
      for (int p = 0; p < kParts; ++p)
        load<kLanes>(keys + std::int64_t{i} * head.block_size + at + p * kLanes, key[p]);
      DOETUNE_UNROLL
      for (int q = 0; q < kQueries; ++q) {
        DOETUNE_UNROLL
        for (int p = 0; p < kParts; ++p) sums[q][p] += queries[q].query[i] * key[p];
      }
    }
    const float scale = 1 / std::sqrt(static_cast<float>(width));
    DOETUNE_UNROLL
    for (int q = 0; q < kQueries; ++q) {
      DOETUNE_UNROLL
      for (int p = 0; p < kParts; ++p) {
        Vector scaled = sums[q][p] * scale;
        if constexpr (kScaled) {
          Vector of_keys;
          load<kLanes>(scales + at + p * kLanes, of_keys);
          scaled *= of_keys;
        }
        store<kLanes>(scaled, &scores[q][at + p * kLanes]);
      }
    }
  }

  /// Replaces the scores of a block by exp(score - maximum), after raising the maximum to theirs;
  /// total and output are those of the blocks before, and are scaled to the new maximum.
  static DOETUNE_INLINE void weigh(float* scores, int count, float& maximum, float& total,
                                   float* output, int width) {
    const float highest = std::max(maximum, *std::max_element(scores, scores + count));
    if (highest > maximum) {
      const float factor = std::exp(maximum - highest);
      total *= factor;
      for (int i = 0; i < width; ++i) output[i] *= factor;
      maximum = highest;
    }
    Vector sum = {};
    for (int i = 0; i < count; i += kLanes) {
      Vector weight;
      load<kLanes>(scores + i, weight);
      weight -= maximum;
      exponential<kLanes>(weight);
      sum += weight;
      store<kLanes>(weight, scores + i);
    }
    total += sum_of<kLanes>(sum);
  }

  /// Adds the weighted values of a block to elements at .. at + 15 of the outputs.
  static DOETUNE_INLINE void add(const CachedHead& head, const Query* queries, const Number* values,
                                 int count, int at,
                                 const float (&weights)[kQueries][kMaxBlockSize]) {
    Vector sums[kQueries][kParts];
    DOETUNE_UNROLL
    for (int q = 0; q < kQueries; ++q) {
      DOETUNE_UNROLL
      for (int p = 0; p < kParts; ++p)
        load<kLanes>(queries[q].output + at + p * kLanes, sums[q][p]);
    }
    for (int i = 0; i < count; ++i) {
      Vector value[kParts];
      DOETUNE_UNROLL
      for (int p = 0; p < kParts; ++p)
        load<kLanes>(values + std::int64_t{i} * head.head_width + at + p * kLanes, value[p]);
      DOETUNE_UNROLL
      for (int q = 0; q < kQueries; ++q) {
        DOETUNE_UNROLL
        for (int p = 0; p < kParts; ++p) sums[q][p] += weights[q][i] * value[p];
      }
    }
    DOETUNE_UNROLL
    for (int q = 0; q < kQueries; ++q) {
      DOETUNE_UNROLL
      for (int p = 0; p < kParts; ++p)
        store<kLanes>(sums[q][p], queries[q].output + at + p * kLanes);
    }
  }
};

}  // namespace doetune::workloads::language
