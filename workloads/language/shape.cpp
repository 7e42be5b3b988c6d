#include "workloads/language/shape.h"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

namespace doetune::workloads {

std::span<const NamedShape> named_shapes() {
  // From the configurations that were published with the models: stories15M of llama2.c (Karpathy
  // 2023), SmolLM2 (Allal et al. 2025, arXiv:2502.02737), TinyLlama (Zhang et al. 2024,
  // arXiv:2401.02385) and Llama 3 (Grattafiori et al. 2024, arXiv:2407.21783).
  static constexpr NamedShape kShapes[] = {
      {"stories-15m", {6, 288, 6, 6, 768, 32000, 256, 1e4, true}},
      {"smollm2-135m", {30, 576, 9, 3, 1536, 49152, 8192, 1e5, true}},
      {"tinyllama-1.1b", {22, 2048, 32, 4, 5632, 32000, 2048, 1e4, false}},
      {"llama-3-8b", {32, 4096, 32, 8, 14336, 128256, 8192, 5e5, false}}};
  return kShapes;
}

std::vector<float> rotary_turns(const DecoderShape& shape) {
  const int pairs = shape.head_width() / 2;
  std::vector<float> turns;
  turns.reserve(static_cast<std::size_t>(shape.positions) * pairs * 2);
  for (int position = 0; position < shape.positions; ++position)
    for (int i = 0; i < pairs; ++i) {
      const double angle = position * std::pow(shape.rotary_base, -static_cast<double>(i) / pairs);
      turns.push_back(static_cast<float>(std::cos(angle)));
      turns.push_back(static_cast<float>(std::sin(angle)));
    }
  return turns;
}

void check_shape(const DecoderShape& shape) {
  if (shape.width % shape.heads != 0 || shape.head_width() % kWidthMultiple != 0)
    throw std::invalid_argument(
        fmt::format("width = {} divided by heads = {} must be a multiple of {}", shape.width,
                    shape.heads, kWidthMultiple));
  if (shape.heads % shape.kv_heads != 0)
    throw std::invalid_argument(
        fmt::format("heads = {} must be a multiple of kv_heads = {}", shape.heads, shape.kv_heads));
  if (shape.ffn_width % kWidthMultiple != 0)
    throw std::invalid_argument(
        fmt::format("ffn_width = {} must be a multiple of {}", shape.ffn_width, kWidthMultiple));
}

}  // namespace doetune::workloads
