// Batch normalisation's loops over memory: over one strip at a time, so that threads share strips
// out as they like and wait for each other in OpenMP's barriers alone. (Threads inside oneDNN's own
// wait without sleeping: on cores that others use too that is many times slower.)
#pragma once

#include <cstdint>

namespace doetune::workloads::onednn {

/// The pixels of an image, of `lanes` channels each, which lie side by side.
struct Strip {
  std::int64_t pixels;
  std::int64_t stride;  // numbers from pixel to pixel
};

/// y = activation((x - mean) factor + summand + residual). Numbers of `lanes` channels.
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

/// For one type of numbers in memory (float or bf16), one number of lanes and this processor.
struct NormalisationKernels {
  /// Mean of each lane, and the sum of squared deviations from it.
  void (*moments)(const void* x, const Strip& strip, float* mean, float* squares);
  /// `residual` may be null.
  void (*normalise)(const void* x, const void* residual, void* y, const Strip& strip,
                    const ForwardFactors& factors);
  /// Sums of d and of d (x - mean); d is kept in `kept` where that is not null.
  void (*gradient_sums)(const void* x, const void* y, const void* gradient, void* kept,
                        const Strip& strip, const float* mean, float slope, float* sums,
                        float* products);
  void (*gradient)(const void* x, const void* y, const void* gradient, void* dx, const Strip& strip,
                   const BackwardFactors& factors);
};

/// `lanes`: 16, 8 or 1.
const NormalisationKernels& normalisation_kernels(bool bf16, int lanes);

}  // namespace doetune::workloads::onednn
