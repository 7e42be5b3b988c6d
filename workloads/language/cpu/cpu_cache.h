// The paged cache of keys and values in the memory of the CPU.
#pragma once

#include <cstdint>
#include <span>

#include "workloads/engines/onednn/onednn_memory.h"
#include "workloads/language/cpu/kernels.h"
#include "workloads/language/decoder.h"

namespace doetune::workloads::language {

class CpuCache {
 public:
  /// Throws CannotRun.
  CpuCache(const DecoderShape& shape, const DecoderOptions& options);

  /// Keeps the key and the value of a token, head_width floats each, at a position of a sequence
  /// with these blocks.
  void put(int layer, int kv_head, std::span<const int> blocks, int position, const float* key,
           const float* value);

  CachedHead head(int layer, int kv_head) const;

  std::int64_t bytes() const { return bytes_; }

 private:
  int kv_heads_;
  int head_width_;
  CacheType type_;
  int block_size_;
  std::int64_t head_bytes_;   // of one head in one block
  std::int64_t layer_bytes_;  // of all blocks
  std::int64_t bytes_;
  onednn::Buffer memory_;
};

}  // namespace doetune::workloads::language
