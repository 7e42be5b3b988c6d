// The loops of batch normalisation over one strip of memory at a time, so that threads divide the
// strips freely and synchronise by OpenMP's barriers only. (Threads inside oneDNN's own batch
// normalisation spin: many times slower on cores that are also used by others.)
#pragma once

#include <cstdint>

namespace doetune::workloads::onednn {

/// The pixels of an image, with `lanes` contiguous channels each.
struct Strip {
  std::int64_t pixels;
  std::int64_t stride;  // in numbers, from pixel to pixel
};

/// y = activation((x - mean) factor + summand + residual). Arrays of `lanes` channels.
struct ForwardFactors {
  const float* mean;
  const float* factor;
  const float* summand;
  float slope;  // of the activation below zero
};

/// dx = by_gradient d + by_deviation (x - mean) + constant, d = gradient slope where y <= 0.
struct BackwardFactors {
  const float* mean;
  const float* by_gradient;
  const float* by_deviation;
  const float* constant;
  float slope;
};

/// The loops for one type of numbers in memory (float or bf16), one number of lanes and this CPU.
struct NormalisationKernels {
  /// Mean of each lane, and the sum of squared deviations from it.
  void (*moments)(const void* x, const Strip& strip, float* mean, float* squares);
  /// `residual` may be null.
  void (*normalise)(const void* x, const void* residual, void* y, const Strip& strip,
                    const ForwardFactors& factors);
  /// Sums of d and of d (x - mean); d is stored in `kept` where that is not null.
  void (*gradient_sums)(const void* x, const void* y, const void* gradient, void* kept,
                        const Strip& strip, const float* mean, float slope, float* sums,
                        float* products);
  void (*gradient)(const void* x, const void* y, const void* gradient, void* dx, const Strip& strip,
                   const BackwardFactors& factors);
};

/// `lanes`: 16, 8 or 1.
const NormalisationKernels& normalisation_kernels(bool bf16, int lanes);

}  // namespace doetune::workloads::onednn
