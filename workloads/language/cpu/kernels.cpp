#include "workloads/language/cpu/kernels.h"

#include <utility>

#include "workloads/language/cpu/attention_loops.h"
#include "workloads/language/cpu/product_loops.h"

namespace doetune::workloads::language {
namespace {

/// Calls run<4>, run<2> or run<1> for the first of `count` things, and so on for the others: each
/// number that is computed at once is code of its own.
#define DOETUNE_IN_PARTS(count, Loops, Number, kLanes, work)        \
  for (int done = 0, left = count; left > 0; left = count - done) { \
    if (left >= 4) {                                                \
      Loops<Number, 4, kLanes>::run(work, done);                    \
      done += 4;                                                    \
    } else if (left >= 2) {                                         \
      Loops<Number, 2, kLanes>::run(work, done);                    \
      done += 2;                                                    \
    } else {                                                        \
      Loops<Number, 1, kLanes>::run(work, done);                    \
      done += 1;                                                    \
    }                                                               \
  }

template <class Number, int kLanes>
DOETUNE_INLINE void attend_loops(const AttentionWork& work) {
  DOETUNE_IN_PARTS(work.count, AttentionLoops, Number, kLanes, work)
}

template <class Number, int kLanes>
DOETUNE_INLINE void product_loops(const ProductWork& work) {
  DOETUNE_IN_PARTS(work.rows, ProductLoops, Number, kLanes, work)
}
#undef DOETUNE_IN_PARTS

template <int kLanes>
DOETUNE_INLINE void gate_loops(const float* gate, const float* up, float* out, std::int64_t count) {
  for (std::int64_t i = 0; i < count; i += kLanes) {
    Floats<kLanes> z;
    Floats<kLanes> factor;
    load<kLanes>(gate + i, z);
    load<kLanes>(up + i, factor);
    // Above 80, silu(z) is z to the last digit; the exponential takes no more.
    Floats<kLanes> power = z < -80 ? Floats<kLanes>{} + 80 : -z;
    exponential<kLanes>(power);
    store<kLanes>(z / (1 + power) * factor, out + i);
  }
}

// The same loops, compiled once for each instruction set.
#define DOETUNE_KERNELS(Name, Target, kLanes)                                              \
  struct Name {                                                                            \
    template <class Number>                                                                \
    __attribute__((target(Target))) static void attend(const AttentionWork& work) {        \
      attend_loops<Number, kLanes>(work);                                                  \
    }                                                                                      \
    template <class Number>                                                                \
    __attribute__((target(Target))) static void product(const ProductWork& work) {         \
      product_loops<Number, kLanes>(work);                                                 \
    }                                                                                      \
    __attribute__((target(Target))) static void gate(const float* gate, const float* up,   \
                                                     float* out, std::int64_t count) {     \
      gate_loops<kLanes>(gate, up, out, count);                                            \
    }                                                                                      \
    static constexpr Kernels kernels{                                                      \
        {attend<float>, attend<std::uint16_t>, attend<std::int8_t>, attend<std::uint8_t>}, \
        product<float>,                                                                    \
        product<std::uint16_t>,                                                            \
        gate};                                                                             \
  };

DOETUNE_KERNELS(Avx512, "avx512f,avx512bw,avx512dq,avx512vl", 16)
DOETUNE_KERNELS(Avx2, "avx2,fma", 8)
DOETUNE_KERNELS(Plain, "sse2", 4)
#undef DOETUNE_KERNELS

}  // namespace

const Kernels& kernels() {
  if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512dq"))
    return Avx512::kernels;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return Avx2::kernels;
  return Plain::kernels;
}

}  // namespace doetune::workloads::language
