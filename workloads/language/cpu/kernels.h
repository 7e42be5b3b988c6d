// The inner loops of a decoder on the CPU, in the instructions of this processor.
#pragma once

#include <cstddef>
#include <cstdint>

#include "workloads/language/decoder.h"

namespace doetune::workloads::language {

inline constexpr int kMaxQueries = 4;      ///< of one attention kernel
inline constexpr int kMaxBlockSize = 256;  ///< tokens in a block of the cache
inline constexpr int kMaxProductRows = 8;  ///< of one product kernel

/// Where a head's keys and values are in a block of the cache, in this order: keys (head_width x
/// block_size numbers, so that scores of neighbouring positions are one vector), values (block_size
/// x head_width), and for int8 and fp8 the scales of the keys and those of the values.
struct CachedHead {
  std::byte* first = nullptr;     ///< in block 0
  std::int64_t block_stride = 0;  ///< bytes from block to block
  int block_size = 0;
  int head_width = 0;
};

/// output = attention (shape.h) of a query over the positions 0 .. limit - 1.
struct Query {
  const float* query = nullptr;
  float* output = nullptr;
  int limit = 0;
};

/// Queries on one head of keys and values, which is read once for kQueriesAtOnce of them. Scores
/// are scaled by 1 / sqrt(head_width). One pass over the cache with a running maximum (Milakov &
/// Gimelshein 2018, arXiv:1805.02867; Dao et al. 2022, arXiv:2205.14135).
struct AttentionWork {
  CachedHead head;
  const int* blocks = nullptr;  ///< the sequence's
  const Query* queries = nullptr;
  int count = 0;
};

/// output[m][n] = sum over k of input[m][k] weights[n][k], or += where `add`, for n from first to
/// end - 1 and all m < rows. Inputs are k numbers apart, a multiple of 16; outputs `output_stride`.
struct ProductWork {
  const float* input = nullptr;
  const void* weights = nullptr;  ///< of row 0
  float* output = nullptr;
  int rows = 0;
  int k = 0;
  std::int64_t output_stride = 0;
  std::int64_t first = 0;
  std::int64_t end = 0;
  bool add = false;
};

struct Kernels {
  void (*attend[4])(const AttentionWork& work);  ///< by CacheType
  void (*product)(const ProductWork& work);      ///< of floats
  void (*product_bf16)(const ProductWork& work);
  /// out[i] = silu(gate[i]) up[i]; count is a multiple of 16.
  void (*gate)(const float* gate, const float* up, float* out, std::int64_t count);
};

const Kernels& kernels();

}  // namespace doetune::workloads::language
