// The weights of a decoder in the memory of the CPU, and products with them.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "workloads/engines/engine.h"
#include "workloads/engines/onednn/onednn_memory.h"
#include "workloads/language/decoder_weights.h"

namespace doetune::workloads::language {

/// Consecutive tensors of the block as one matrix: rows outputs of `columns` inputs.
struct Matrix {
  std::int64_t offset = 0;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
};

/// Floats between which `stride` lies from row to row.
struct Rows {
  float* first = nullptr;
  int count = 0;
  std::int64_t stride = 0;
};

class CpuWeights {
 public:
  /// Random weights, drawn by this number of threads. `precision` is fp32 or bf16. Throws
  /// CannotRun.
  CpuWeights(const DecoderShape& shape, std::uint64_t seed, Precision precision, int threads);

  /// The tensors `first` to `last` of a layer, which follow each other.
  Matrix matrix(TensorKind first, TensorKind last, int layer) const;
  Matrix logits() const { return logits_; }

  /// A row of the embedding, as floats.
  void embed(int token, float* to) const;

  /// Gains, as floats.
  const float* gains(TensorKind kind, int layer) const;

  /// to = from matrix^T, or to += where `add`. `from` has matrix.columns numbers in a row, without
  /// gaps. By oneDNN where there are many rows, else by the kernels for few.
  void multiply(const Matrix& matrix, const float* from, const Rows& to, bool add,
                int threads) const;

  std::int64_t bytes() const { return bytes_; }

 private:
  template <class Number>
  void draw(std::uint64_t seed, int threads);
  void multiply_few(const Matrix& matrix, const float* from, const Rows& to, bool add,
                    int threads) const;
  void multiply_many(const Matrix& matrix, const float* from, const Rows& to, bool add) const;
  const void* at(std::int64_t offset) const;

  std::vector<Tensor> tensors_;
  bool bf16_;
  std::int64_t bytes_;
  onednn::Buffer memory_;
  Matrix logits_;
  std::map<std::pair<TensorKind, int>, std::vector<float>> gains_;
};

}  // namespace doetune::workloads::language
