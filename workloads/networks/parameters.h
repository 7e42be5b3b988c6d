// The trainable parameters of a network as one block of floats, with the same layout in every
// engine, in checkpoints and in sums of gradients between processes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "workloads/networks/network.h"

namespace doetune::workloads {

enum class ParameterKind { weights, bias, scale, shift };

/// One parameter tensor. Weights are filters x inputs x kernel height x kernel width; the others
/// have one number per filter.
struct ParameterTensor {
  int layer;  // index of the convolution
  ParameterKind kind;
  std::int64_t offset;  // in the block
  std::int64_t count;
};

/// All parameter tensors in layer order, without gaps: a convolution's weights, then its bias, or
/// the scale and shift of its batch normalisation. Gradients and momentum have the same layout; the
/// backward pass completes it from back to front.
std::vector<ParameterTensor> parameter_layout(const Network& network);

/// The number of running statistics: for each batch-normalised convolution in layer order its
/// means, then its variances.
std::int64_t statistics_count(const Network& network);

/// Draws weights as random_weights does; biases and shifts are 0, scales 1 (0 for the batch
/// normalisation at the end of a residual branch, so that a block starts as the identity). Source:
/// He et al. (2015); Goyal et al. (2017), section 5.1. `parameters` has parameters(network) floats.
void initial_parameters(const Network& network, std::uint64_t seed, std::span<float> parameters);

/// Means 0, variances 1.
void initial_statistics(const Network& network, std::span<float> statistics);

/// The initial state of a training.
struct InitialState {
  std::vector<float> parameters;
  std::vector<float> statistics;
};
InitialState initial_state(const Network& network, std::uint64_t seed);

inline constexpr float kBatchNormEpsilon = 1e-5F;

/// The block of weights.h for inference: w scale / sqrt(variance + epsilon) and shift - mean scale
/// / sqrt(variance + epsilon).
std::vector<float> folded_weights(const Network& network, std::span<const float> parameters,
                                  std::span<const float> statistics);

}  // namespace doetune::workloads
