#include "workloads/language/decoder.h"

#include <array>
#include <stdexcept>
#include <utility>

#include "workloads/cuda/cuda_library.h"
#include "workloads/language/cpu/cpu_model.h"

namespace doetune::workloads {
namespace {

constexpr std::array<std::pair<CacheType, std::string_view>, 3> kCacheTypes{
    {{CacheType::fp32, "fp32"}, {CacheType::bf16, "bf16"}, {CacheType::int8, "int8"}}};

/// Of a key or value of one head.
std::int64_t bytes_of_head(int width, CacheType type) {
  constexpr std::int64_t kScale = sizeof(float);
  if (type == CacheType::int8) return width + kScale;
  return width * (type == CacheType::bf16 ? 2 : 4);
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

std::vector<std::string> language_devices() { return {"cpu", "cuda"}; }

std::unique_ptr<LanguageModel> make_language_model(std::string_view device,
                                                   const DecoderShape& shape, std::uint64_t seed,
                                                   Precision precision, int threads) {
  if (device == "cpu") return make_cpu_language_model(shape, seed, precision, threads);
  if (device == "cuda") return cuda_library().make_language_model(shape, seed, precision);
  throw NoDevice("there is no engine for language models on the device '" + std::string(device) +
                 "'; there are cpu and cuda");
}

}  // namespace doetune::workloads
