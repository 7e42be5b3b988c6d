#include "workloads/engines/onednn/normalisation_kernels.h"

#include <cstring>

#define DOETUNE_INLINE inline __attribute__((always_inline))

namespace doetune::workloads::onednn {
namespace {

// GCC's vector types: one source for every width; a function's target selects the instructions.
template <int kLanes>
using Floats [[gnu::vector_size(4 * kLanes)]] = float;
template <int kLanes>
using Bits [[gnu::vector_size(4 * kLanes)]] = std::uint32_t;
template <int kLanes>
using Halves [[gnu::vector_size(2 * kLanes)]] = std::uint16_t;

constexpr int kAtOnce = 4;  // independent accumulators

/// The numbers in memory are floats.
template <int kLanes>
struct Fp32 {
  using Number = float;
  using Vector = Floats<kLanes>;
  static DOETUNE_INLINE void load(const float* from, Vector& to) {
    std::memcpy(&to, from, sizeof to);
  }
  static DOETUNE_INLINE void store(const Vector& from, float* to) {
    std::memcpy(to, &from, sizeof from);
  }
};

template <int kLanes>
struct Bf16 {
  using Number = std::uint16_t;
  using Vector = Floats<kLanes>;
  static DOETUNE_INLINE void load(const std::uint16_t* from, Vector& to) {
    Halves<kLanes> halves;
    std::memcpy(&halves, from, sizeof halves);
    const Bits<kLanes> bits = __builtin_convertvector(halves, Bits<kLanes>) << 16;
    std::memcpy(&to, &bits, sizeof to);
  }
  /// Rounds to nearest, ties to even.
  static DOETUNE_INLINE void store(const Vector& from, std::uint16_t* to) {
    Bits<kLanes> bits;
    std::memcpy(&bits, &from, sizeof bits);
    bits += 0x7FFF + ((bits >> 16) & 1);
    const Halves<kLanes> halves = __builtin_convertvector(bits >> 16, Halves<kLanes>);
    std::memcpy(to, &halves, sizeof halves);
  }
};

/// The loops, as specified in the header.
template <class Memory>
struct Loops {
  using Number = typename Memory::Number;
  using Vector = typename Memory::Vector;

  static DOETUNE_INLINE void read(const float* from, Vector& to) {
    std::memcpy(&to, from, sizeof to);
  }
  static DOETUNE_INLINE void write(const Vector& from, float* to) {
    std::memcpy(to, &from, sizeof from);
  }

  /// Calls visit(which of kAtOnce, offset) for every pixel.
  template <class Visit>
  static DOETUNE_INLINE void for_pixels(const Strip& strip, Visit visit) {
    std::int64_t pixel = 0;
    for (; pixel + kAtOnce <= strip.pixels; pixel += kAtOnce)
      for (int k = 0; k < kAtOnce; ++k) visit(k, (pixel + k) * strip.stride);
    for (; pixel < strip.pixels; ++pixel) visit(0, pixel * strip.stride);
  }

  static DOETUNE_INLINE void moments(const void* memory, const Strip& strip, float* mean,
                                     float* squares) {
    const auto* x = static_cast<const Number*>(memory);
    // Deviations from one of the values: sums of squares of values far from zero would cancel.
    Vector origin;
    Memory::load(x, origin);
    Vector sum[kAtOnce] = {};
    Vector square[kAtOnce] = {};
    for_pixels(
        strip, [&](int k, std::int64_t at) __attribute__((always_inline)) {
          Vector d;
          Memory::load(x + at, d);
          d -= origin;
          sum[k] += d;
          square[k] += d * d;
        });
    const auto count = static_cast<float>(strip.pixels);
    const Vector all = (sum[0] + sum[1]) + (sum[2] + sum[3]);
    const Vector shift = all / count;
    write(origin + shift, mean);
    write((square[0] + square[1]) + (square[2] + square[3]) - all * shift, squares);
  }

  template <bool kResidual>
  static DOETUNE_INLINE void normalise_with(const Number* x, const Number* residual, Number* y,
                                            const Strip& strip, const ForwardFactors& factors) {
    Vector mean;
    Vector factor;
    Vector summand;
    read(factors.mean, mean);
    read(factors.factor, factor);
    read(factors.summand, summand);
    const float slope = factors.slope;
    for_pixels(
        strip, [&](int, std::int64_t at) __attribute__((always_inline)) {
          Vector value;
          Memory::load(x + at, value);
          value = (value - mean) * factor + summand;
          if constexpr (kResidual) {
            Vector other;
            Memory::load(residual + at, other);
            value += other;
          }
          value = value < 0 ? value * slope : value;
          Memory::store(value, y + at);
        });
  }

  static DOETUNE_INLINE void normalise(const void* x, const void* residual, void* y,
                                       const Strip& strip, const ForwardFactors& factors) {
    const auto* from = static_cast<const Number*>(x);
    const auto* other = static_cast<const Number*>(residual);
    auto* to = static_cast<Number*>(y);
    if (residual != nullptr)
      normalise_with<true>(from, other, to, strip, factors);
    else
      normalise_with<false>(from, other, to, strip, factors);
  }

  /// The gradient with respect to the input of the activation.
  static DOETUNE_INLINE void through_activation(const Number* y, const Number* gradient,
                                                float slope, Vector& d) {
    Memory::load(gradient, d);
    if (slope == 1.0F) return;
    Vector result;
    Memory::load(y, result);
    d = result <= 0 ? d * slope : d;
  }

  static DOETUNE_INLINE void gradient_sums(const void* memory, const void* result,
                                           const void* gradient, void* kept, const Strip& strip,
                                           const float* means, float slope, float* sums,
                                           float* products) {
    const auto* x = static_cast<const Number*>(memory);
    const auto* y = static_cast<const Number*>(result);
    const auto* g = static_cast<const Number*>(gradient);
    auto* keep = static_cast<Number*>(kept);
    Vector mean;
    read(means, mean);
    Vector sum[kAtOnce] = {};
    Vector product[kAtOnce] = {};
    for_pixels(
        strip, [&](int k, std::int64_t at) __attribute__((always_inline)) {
          Vector d;
          through_activation(y + at, g + at, slope, d);
          Vector deviation;
          Memory::load(x + at, deviation);
          deviation -= mean;
          sum[k] += d;
          product[k] += d * deviation;
          if (keep != nullptr) Memory::store(d, keep + at);
        });
    write((sum[0] + sum[1]) + (sum[2] + sum[3]), sums);
    write((product[0] + product[1]) + (product[2] + product[3]), products);
  }

  static DOETUNE_INLINE void gradient(const void* memory, const void* result, const void* gradient,
                                      void* dx, const Strip& strip,
                                      const BackwardFactors& factors) {
    const auto* x = static_cast<const Number*>(memory);
    const auto* y = static_cast<const Number*>(result);
    const auto* g = static_cast<const Number*>(gradient);
    auto* to = static_cast<Number*>(dx);
    Vector mean;
    Vector by_gradient;
    Vector by_deviation;
    Vector constant;
    read(factors.mean, mean);
    read(factors.by_gradient, by_gradient);
    read(factors.by_deviation, by_deviation);
    read(factors.constant, constant);
    const float slope = factors.slope;
    for_pixels(
        strip, [&](int, std::int64_t at) __attribute__((always_inline)) {
          Vector d;
          through_activation(y + at, g + at, slope, d);
          Vector deviation;
          Memory::load(x + at, deviation);
          deviation -= mean;
          Memory::store(by_gradient * d + by_deviation * deviation + constant, to + at);
        });
  }
};

// The same loops, compiled once for each instruction set.
#define DOETUNE_KERNELS(Name, Target)                                                           \
  template <class Memory>                                                                       \
  struct Name {                                                                                 \
    __attribute__((target(Target))) static void moments(const void* x, const Strip& strip,      \
                                                        float* mean, float* squares) {          \
      Loops<Memory>::moments(x, strip, mean, squares);                                          \
    }                                                                                           \
    __attribute__((target(Target))) static void normalise(const void* x, const void* residual,  \
                                                          void* y, const Strip& strip,          \
                                                          const ForwardFactors& factors) {      \
      Loops<Memory>::normalise(x, residual, y, strip, factors);                                 \
    }                                                                                           \
    __attribute__((target(Target))) static void gradient_sums(const void* x, const void* y,     \
                                                              const void* gradient, void* kept, \
                                                              const Strip& strip,               \
                                                              const float* mean, float slope,   \
                                                              float* sums, float* products) {   \
      Loops<Memory>::gradient_sums(x, y, gradient, kept, strip, mean, slope, sums, products);   \
    }                                                                                           \
    __attribute__((target(Target))) static void gradient(const void* x, const void* y,          \
                                                         const void* gradient, void* dx,        \
                                                         const Strip& strip,                    \
                                                         const BackwardFactors& factors) {      \
      Loops<Memory>::gradient(x, y, gradient, dx, strip, factors);                              \
    }                                                                                           \
    static constexpr NormalisationKernels kernels{moments, normalise, gradient_sums, gradient}; \
  };

DOETUNE_KERNELS(Avx512, "avx512f,avx512bw,avx512dq,avx512vl")
DOETUNE_KERNELS(Avx2, "avx2,fma")
DOETUNE_KERNELS(Plain, "sse2")
#undef DOETUNE_KERNELS

template <template <int> class Memory, int kLanes>
const NormalisationKernels& of_this_processor() {
  if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512dq"))
    return Avx512<Memory<kLanes>>::kernels;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return Avx2<Memory<kLanes>>::kernels;
  return Plain<Memory<kLanes>>::kernels;
}

template <template <int> class Memory>
const NormalisationKernels& of_lanes(int lanes) {
  return lanes == 16  ? of_this_processor<Memory, 16>()
         : lanes == 8 ? of_this_processor<Memory, 8>()
                      : of_this_processor<Memory, 1>();
}

}  // namespace

const NormalisationKernels& normalisation_kernels(bool bf16, int lanes) {
  return bf16 ? of_lanes<Bf16>(lanes) : of_lanes<Fp32>(lanes);
}

}  // namespace doetune::workloads::onednn
