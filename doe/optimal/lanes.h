// SIMD vectors of eight doubles: one lane for each of eight independent searches.
//
// The vector extension of GCC and Clang compiles for any processor; exchange_batch.cpp compiles its
// inner loops for several vector widths and selects one at run time. Lanes never affect each other.
#pragma once

#include <cstddef>
#include <new>

#define DOETUNE_INLINE inline __attribute__((always_inline))

namespace doetune::doe {

constexpr int kLanes = 8;

// The alignment is explicit: the default depends on the target processor.
using Lanes = double __attribute__((vector_size(kLanes * sizeof(double)), aligned(64)));
using LaneMask = long long __attribute__((vector_size(kLanes * sizeof(long long)), aligned(64)));

/// An array of Lanes, initially 0. (A template argument would lose the alignment.)
class LaneArray {
 public:
  LaneArray() = default;
  LaneArray(const LaneArray&) = delete;
  LaneArray& operator=(const LaneArray&) = delete;
  ~LaneArray() { operator delete[](lanes_, kAlignment); }

  void resize(std::size_t size) {
    operator delete[](lanes_, kAlignment);
    lanes_ = new (kAlignment) Lanes[size]();
  }
  Lanes* data() { return lanes_; }
  const Lanes* data() const { return lanes_; }
  Lanes& operator[](std::size_t i) { return lanes_[i]; }
  const Lanes& operator[](std::size_t i) const { return lanes_[i]; }

 private:
  static constexpr std::align_val_t kAlignment{64};
  Lanes* lanes_ = nullptr;
};

DOETUNE_INLINE Lanes all_lanes(double value) { return value - Lanes{}; }

DOETUNE_INLINE Lanes larger(const Lanes& a, const Lanes& b) { return a > b ? a : b; }

DOETUNE_INLINE Lanes smaller(const Lanes& a, const Lanes& b) { return a < b ? a : b; }

DOETUNE_INLINE Lanes square_root(const Lanes& a) {
  alignas(64) double roots[kLanes];
  __builtin_memcpy(roots, &a, sizeof roots);
  for (double& root : roots) root = __builtin_sqrt(root);
  Lanes result;
  __builtin_memcpy(&result, roots, sizeof roots);
  return result;
}

/// ln a for normal a > 0 to full precision: for a = 2^e m from 2 artanh((m - 1) / (m + 1)), |ln m|
/// <= ln(2) / 2.
DOETUNE_INLINE Lanes natural_logarithm(const Lanes& a) {
  constexpr long long kFraction = 0xfffffffffffff;
  constexpr long long kOne = 0x3ff0000000000000;
  const LaneMask bits = (LaneMask)a;
  Lanes m = (Lanes)((bits & kFraction) | kOne);
  const LaneMask upper = m > __builtin_sqrt(2.0);
  m = upper ? 0.5 * m : m;
  const Lanes exponent = __builtin_convertvector((bits >> 52) - 1023 - upper, Lanes);
  const Lanes s = (m - 1.0) / (m + 1.0);
  const Lanes z = s * s;
  Lanes sum = all_lanes(1.0 / 21);
  for (int odd = 19; odd >= 1; odd -= 2) sum = sum * z + 1.0 / odd;
  return exponent * 0.693147180559945309 + 2.0 * s * sum;
}

DOETUNE_INLINE bool any(const LaneMask& mask) {
  const LaneMask halves = mask | __builtin_shufflevector(mask, mask, 4, 5, 6, 7, 0, 1, 2, 3);
  const LaneMask quarters =
      halves | __builtin_shufflevector(halves, halves, 2, 3, 0, 1, 6, 7, 4, 5);
  return (quarters[0] | quarters[1]) != 0;
}

}  // namespace doetune::doe
