#include "workloads/language/cpu/cpu_cache.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "workloads/communication/bfloat16.h"
#include "workloads/language/cpu/float8.h"

namespace doetune::workloads::language {
namespace {

void put_number(float from, float& to) { to = from; }
void put_number(float from, std::uint16_t& to) { to = to_bfloat16(from); }
void put_number(float from, std::int8_t& to) { to = static_cast<std::int8_t>(std::lround(from)); }
void put_number(float from, std::uint8_t& to) { to = to_float8(from); }

/// Keeps `count` numbers, `stride` apart; with a factor where they are scaled.
template <class Number>
void put_numbers(const float* from, int count, float factor, Number* to, int stride) {
  for (int i = 0; i < count; ++i) put_number(factor * from[i], to[std::int64_t{i} * stride]);
}

/// The scale by which the largest magnitude is that of the cache's numbers; of zeros, 1.
template <class Number>
float scale_of(const float* numbers, int count) {
  constexpr float kLargest = std::is_same_v<Number, std::int8_t> ? 127 : kLargestFloat8;
  float largest = 0;
  for (int i = 0; i < count; ++i) largest = std::max(largest, std::abs(numbers[i]));
  return largest > 0 ? largest / kLargest : 1;
}

template <class Number>
void put_token(const CachedHead& head, std::byte* block, int slot, const float* key,
               const float* value) {
  const int width = head.head_width;
  const std::int64_t numbers = std::int64_t{width} * head.block_size;
  auto* keys = reinterpret_cast<Number*>(block);
  Number* values = keys + numbers;
  float key_factor = 1, value_factor = 1;
  if constexpr (sizeof(Number) == 1) {
    auto* scales = reinterpret_cast<float*>(values + numbers);
    scales[slot] = scale_of<Number>(key, width);
    scales[head.block_size + slot] = scale_of<Number>(value, width);
    key_factor = 1 / scales[slot];
    value_factor = 1 / scales[head.block_size + slot];
  }
  put_numbers(key, width, key_factor, keys + slot, head.block_size);
  put_numbers(value, width, value_factor, values + std::int64_t{slot} * width, 1);
}

}  // namespace

CpuCache::CpuCache(const DecoderShape& shape, const DecoderOptions& options)
    : kv_heads_(shape.kv_heads),
      head_width_(shape.head_width()),
      type_(options.cache),
      block_size_(options.block_size),
      head_bytes_(cache_bytes_per_token(shape, options.cache) * options.block_size /
                  (std::int64_t{shape.layers} * shape.kv_heads)),
      layer_bytes_(head_bytes_ * shape.kv_heads * options.blocks),
      bytes_(layer_bytes_ * shape.layers),
      memory_(static_cast<std::size_t>(bytes_)) {}

CachedHead CpuCache::head(int layer, int kv_head) const {
  const std::int64_t at = layer * layer_bytes_ + kv_head * head_bytes_;
  return {reinterpret_cast<std::byte*>(memory_.at(static_cast<std::size_t>(at))),
          kv_heads_ * head_bytes_, block_size_, head_width_};
}

void CpuCache::put(int layer, int kv_head, std::span<const int> blocks, int position,
                   const float* key, const float* value) {
  const CachedHead its_head = head(layer, kv_head);
  const int number = blocks[static_cast<std::size_t>(position / block_size_)];
  std::byte* block = its_head.first + number * its_head.block_stride;
  const int slot = position % block_size_;
  switch (type_) {
    case CacheType::fp32:
      return put_token<float>(its_head, block, slot, key, value);
    case CacheType::bf16:
      return put_token<std::uint16_t>(its_head, block, slot, key, value);
    case CacheType::int8:
      return put_token<std::int8_t>(its_head, block, slot, key, value);
    case CacheType::fp8:
      return put_token<std::uint8_t>(its_head, block, slot, key, value);
  }
}

}  // namespace doetune::workloads::language
