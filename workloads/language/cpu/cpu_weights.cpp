#include "workloads/language/cpu/cpu_weights.h"

#include <algorithm>
#include <stdexcept>

#include "workloads/communication/bfloat16.h"
#include "workloads/engines/onednn/onednn_calls.h"
#include "workloads/language/cpu/kernels.h"

namespace doetune::workloads::language {
namespace {

constexpr int kFewRows = 16;          // up to here our kernels, beyond oneDNN; not yet measured
constexpr std::int64_t kTile = 16;    // rows of a matrix that stay in a core's cache
constexpr std::int64_t kPanel = 256;  // rows of a bf16 matrix that are converted at a time

void convert(float from, float& to) { to = from; }
void convert(float from, std::uint16_t& to) { to = to_bfloat16(from); }

float to_float(float number) { return number; }
float to_float(std::uint16_t number) { return from_bfloat16(number); }

/// c = a b^T, or c += where `add`; b has n rows of k.
void product(const float* a, const float* b, const Rows& c, std::int64_t n, std::int64_t k,
             bool add) {
  const dnnl_status_t status =
      dnnl_sgemm('N', 'T', c.count, n, k, 1.0F, a, k, b, k, add ? 1.0F : 0.0F, c.first, c.stride);
  if (status == dnnl_out_of_memory) throw CannotRun("not enough memory for a matrix product");
  if (status != dnnl_success) throw std::runtime_error("oneDNN: a matrix product failed");
}

}  // namespace

CpuWeights::CpuWeights(const DecoderShape& shape, std::uint64_t seed, Precision precision,
                       int threads)
    : tensors_(tensors_of(shape)),
      bf16_(precision == Precision::bf16),
      bytes_(weight_count(shape) * bytes_of(precision)),
      memory_(static_cast<std::size_t>(bytes_)) {
  const Tensor& table = shape.tied_embeddings ? tensors_.front() : tensors_.back();
  logits_ = {table.offset, table.rows, table.columns};
  if (bf16_)
    draw<std::uint16_t>(seed, threads);
  else
    draw<float>(seed, threads);
}

template <class Number>
void CpuWeights::draw(std::uint64_t seed, int threads) {
  auto* numbers = reinterpret_cast<Number*>(memory_.at(0));
  for (const Tensor& tensor : tensors_) {
#pragma omp parallel num_threads(threads)
    {
      std::vector<float> row(static_cast<std::size_t>(tensor.columns));
#pragma omp for schedule(static)
      for (std::int64_t r = 0; r < tensor.rows; ++r) {
        draw_row(tensor, seed, r, row);
        Number* to = numbers + tensor.offset + r * tensor.columns;
        for (const float number : row) convert(number, *to++);
      }
    }
    if (tensor.rows > 1) continue;
    std::vector<float>& gains = gains_[{tensor.kind, tensor.layer}];
    for (std::int64_t i = 0; i < tensor.columns; ++i)
      gains.push_back(to_float(numbers[tensor.offset + i]));
  }
}

Matrix CpuWeights::matrix(TensorKind first, TensorKind last, int layer) const {
  const auto begin = std::ranges::find_if(tensors_, [&](const Tensor& tensor) {
    return tensor.kind == first && tensor.layer == layer;
  });
  Matrix matrix{begin->offset, 0, begin->columns};
  for (auto tensor = begin;
       tensor != tensors_.end() && tensor->layer == layer && tensor->kind <= last; ++tensor)
    matrix.rows += tensor->rows;
  return matrix;
}

const void* CpuWeights::at(std::int64_t offset) const {
  return memory_.at(static_cast<std::size_t>(offset) * (bf16_ ? 2 : 4));
}

void CpuWeights::embed(int token, float* to) const {
  const Tensor& table = tensors_.front();
  const void* row = at(table.offset + token * table.columns);
  for (std::int64_t i = 0; i < table.columns; ++i)
    to[i] = bf16_ ? to_float(static_cast<const std::uint16_t*>(row)[i])
                  : static_cast<const float*>(row)[i];
}

const float* CpuWeights::gains(TensorKind kind, int layer) const {
  return gains_.at({kind, layer}).data();
}

void CpuWeights::multiply(const Matrix& matrix, const float* from, const Rows& to, bool add,
                          int threads) const {
  if (to.count <= kFewRows)
    multiply_few(matrix, from, to, add, threads);
  else
    multiply_many(matrix, from, to, add);
}

void CpuWeights::multiply_few(const Matrix& matrix, const float* from, const Rows& to, bool add,
                              int threads) const {
  const auto kernel = bf16_ ? kernels().product_bf16 : kernels().product;
  const std::int64_t tiles = (matrix.rows + kTile - 1) / kTile;
#pragma omp parallel for num_threads(threads) schedule(static)
  for (std::int64_t tile = 0; tile < tiles; ++tile)
    kernel({.input = from,
            .weights = at(matrix.offset),
            .output = to.first,
            .rows = to.count,
            .k = static_cast<int>(matrix.columns),
            .output_stride = to.stride,
            .first = tile * kTile,
            .end = std::min((tile + 1) * kTile, matrix.rows),
            .add = add});
}

void CpuWeights::multiply_many(const Matrix& matrix, const float* from, const Rows& to,
                               bool add) const {
  if (!bf16_)
    return product(from, static_cast<const float*>(at(matrix.offset)), to, matrix.rows,
                   matrix.columns, add);
  std::vector<float> panel(static_cast<std::size_t>(kPanel * matrix.columns));
  for (std::int64_t row = 0; row < matrix.rows; row += kPanel) {
    const std::int64_t rows = std::min(kPanel, matrix.rows - row);
    const auto* numbers =
        static_cast<const std::uint16_t*>(at(matrix.offset + row * matrix.columns));
#pragma omp parallel for simd
    for (std::int64_t i = 0; i < rows * matrix.columns; ++i)
      panel[static_cast<std::size_t>(i)] = from_bfloat16(numbers[i]);
    product(from, panel.data(), {to.first + row, to.count, to.stride}, rows, matrix.columns, add);
  }
}

}  // namespace doetune::workloads::language
