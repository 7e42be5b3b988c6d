// The weights of a decoder: their order in memory, and random values.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/random.h"
#include "workloads/language/shape.h"

namespace doetune::workloads {

/// The matrices of a decoder, by the letters of shape.h, and its gains (one row).
enum class TensorKind {
  embedding,       ///< E
  attention_norm,  ///< g
  query,           ///< Q
  key,             ///< K
  value,           ///< V
  output,          ///< O
  ffn_norm,        ///< h
  gate,            ///< G
  up,              ///< U
  down,            ///< D
  final_norm,      ///< f
  logits           ///< L
};

/// A matrix of `rows` outputs x `columns` inputs, row-major, from number `offset` of the block on.
struct Tensor {
  TensorKind kind;
  int layer;
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t offset;

  std::int64_t count() const { return rows * columns; }
};

/// All tensors, in the order in which the block has them: the embedding, the layers with their
/// tensors in the order of TensorKind, the final gains, and the logits' unless they are tied.
std::vector<Tensor> tensors_of(const DecoderShape& shape);

/// Numbers in the block.
std::int64_t weight_count(const DecoderShape& shape);

/// The random numbers of a tensor, which depend on the seed and their place alone: uniform, with
/// variance 1 / columns, so that activations keep their size; embeddings have standard deviation
/// 0.02, as usual before training, and gains lie between 0.5 and 1.5.
struct Draw {
  std::uint64_t seed;
  bool gain;
  float half_range;

  DOETUNE_RANDOM float at(std::int64_t i) const {
    const float unit = random_unit(seed, static_cast<std::uint64_t>(i));
    return gain ? 0.5F + unit : (2 * unit - 1) * half_range;
  }
};
Draw draw_of(const Tensor& tensor, std::uint64_t seed);

/// Sets `row` to that row of the tensor.
void draw_row(const Tensor& tensor, std::uint64_t seed, std::int64_t row_number,
              std::span<float> row);

/// The whole block. Large: for small models, tests and dumps.
std::vector<float> random_weights(const DecoderShape& shape, std::uint64_t seed);

}  // namespace doetune::workloads
