#include "workloads/language/decoder_weights.h"

#include <cmath>

namespace doetune::workloads {
namespace {

constexpr float kEmbeddingDeviation = 0.02F;
constexpr std::uint64_t kKinds = 12;

bool is_gain(TensorKind kind) {
  return kind == TensorKind::attention_norm || kind == TensorKind::ffn_norm ||
         kind == TensorKind::final_norm;
}

float deviation_of(const Tensor& tensor) {
  const bool of_tokens = tensor.kind == TensorKind::embedding || tensor.kind == TensorKind::logits;
  return of_tokens ? kEmbeddingDeviation : 1 / std::sqrt(static_cast<float>(tensor.columns));
}

}  // namespace

std::vector<Tensor> tensors_of(const DecoderShape& shape) {
  std::vector<Tensor> tensors;
  std::int64_t offset = 0;
  const auto add = [&](TensorKind kind, int layer, std::int64_t rows, std::int64_t columns) {
    tensors.push_back({kind, layer, rows, columns, offset});
    offset += rows * columns;
  };
  using enum TensorKind;
  add(embedding, 0, shape.vocabulary, shape.width);
  for (int layer = 0; layer < shape.layers; ++layer) {
    add(attention_norm, layer, 1, shape.width);
    add(query, layer, shape.width, shape.width);
    add(key, layer, shape.kv_width(), shape.width);
    add(value, layer, shape.kv_width(), shape.width);
    add(output, layer, shape.width, shape.width);
    add(ffn_norm, layer, 1, shape.width);
    add(gate, layer, shape.ffn_width, shape.width);
    add(up, layer, shape.ffn_width, shape.width);
    add(down, layer, shape.width, shape.ffn_width);
  }
  add(final_norm, 0, 1, shape.width);
  if (!shape.tied_embeddings) add(logits, 0, shape.vocabulary, shape.width);
  return tensors;
}

std::int64_t weight_count(const DecoderShape& shape) {
  const Tensor last = tensors_of(shape).back();
  return last.offset + last.count();
}

Draw draw_of(const Tensor& tensor, std::uint64_t seed) {
  const std::uint64_t own = random_bits(seed, static_cast<std::uint64_t>(tensor.layer) * kKinds +
                                                  static_cast<std::uint64_t>(tensor.kind));
  return {own, is_gain(tensor.kind), std::sqrt(3.0F) * deviation_of(tensor)};
}

void draw_row(const Tensor& tensor, std::uint64_t seed, std::int64_t row_number,
              std::span<float> row) {
  const Draw numbers = draw_of(tensor, seed);
  std::int64_t next = row_number * tensor.columns;
  for (float& number : row) number = numbers.at(next++);
}

std::vector<float> random_weights(const DecoderShape& shape, std::uint64_t seed) {
  std::vector<float> block(static_cast<std::size_t>(weight_count(shape)));
  for (const Tensor& tensor : tensors_of(shape))
    for (std::int64_t row = 0; row < tensor.rows; ++row)
      draw_row(
          tensor, seed, row,
          std::span(block).subspan(static_cast<std::size_t>(tensor.offset + row * tensor.columns),
                                   static_cast<std::size_t>(tensor.columns)));
  return block;
}

}  // namespace doetune::workloads
