// The number formats of cached keys and values.
#include <array>
#include <stdexcept>
#include <utility>

#include "workloads/language/decoder.h"

namespace doetune::workloads {
namespace {

constexpr std::array<std::pair<CacheType, std::string_view>, 4> kCacheTypes{
    {{CacheType::fp32, "fp32"},
     {CacheType::bf16, "bf16"},
     {CacheType::int8, "int8"},
     {CacheType::fp8, "fp8"}}};

/// Of a key or value of one head.
std::int64_t bytes_of_head(int width, CacheType type) {
  constexpr std::int64_t kScale = sizeof(float);
  if (type == CacheType::fp32) return 4LL * width;
  return type == CacheType::bf16 ? 2LL * width : width + kScale;
}

}  // namespace

CacheType cache_type_named(std::string_view name) {
  for (const auto& [type, its_name] : kCacheTypes)
    if (its_name == name) return type;
  throw std::invalid_argument("there is no cache type '" + std::string(name) + "'");
}

std::vector<std::string> cache_type_names() {
  std::vector<std::string> names;
  for (const auto& [type, name] : kCacheTypes) names.emplace_back(name);
  return names;
}

std::int64_t cache_bytes_per_token(const DecoderShape& shape, CacheType type) {
  return 2LL * shape.layers * shape.kv_heads * bytes_of_head(shape.head_width(), type);
}

}  // namespace doetune::workloads
