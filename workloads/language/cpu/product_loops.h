// Products of few rows with a matrix, which is read once: limited by the memory, not by arithmetic.
#pragma once

#include "workloads/language/cpu/kernels.h"
#include "workloads/language/cpu/vectors.h"

namespace doetune::workloads::language {

/// `Number` is that of the weights: float or std::uint16_t (bfloat16).
template <class Number, int kRows, int kLanes>
class ProductLoops {
 public:
  /// Rows row .. row + kRows - 1.
  static DOETUNE_INLINE void run(const ProductWork& work, std::int64_t row) {
    std::int64_t n = work.first;
    for (; n + kAtOnce <= work.end; n += kAtOnce) outputs<kAtOnce>(work, row, n);
    for (; n < work.end; ++n) outputs<1>(work, row, n);
  }

 private:
  // Enough independent sums to hide the latency of an addition, and no more than there are
  // registers.
  static constexpr int kAtOnce = kRows <= 2 ? 4 : 2;

  template <int kOutputs>
  static DOETUNE_INLINE void outputs(const ProductWork& work, std::int64_t row, std::int64_t n) {
    const Number* weights = static_cast<const Number*>(work.weights) + n * work.k;
    Floats<kLanes> sums[kRows][kOutputs] = {};
    const float* inputs = work.input + row * work.k;
    for (int k = 0; k < work.k; k += kLanes) {
      Floats<kLanes> weight[kOutputs];
      DOETUNE_UNROLL
      for (int o = 0; o < kOutputs; ++o)
        load<kLanes>(weights + std::int64_t{o} * work.k + k, weight[o]);
      DOETUNE_UNROLL
      for (int m = 0; m < kRows; ++m) {
        Floats<kLanes> input;
        load<kLanes>(inputs + std::int64_t{m} * work.k + k, input);
        DOETUNE_UNROLL
        for (int o = 0; o < kOutputs; ++o) sums[m][o] += input * weight[o];
      }
    }
    DOETUNE_UNROLL
    for (int m = 0; m < kRows; ++m) {
      DOETUNE_UNROLL
      for (int o = 0; o < kOutputs; ++o) {
        float& output = work.output[(row + m) * work.output_stride + n + o];
        output = sum_of<kLanes>(sums[m][o]) + (work.add ? output : 0.0F);
      }
    }
  }
};

}  // namespace doetune::workloads::language
