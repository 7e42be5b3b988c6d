// A network's weights for inference, with batch normalisation folded in.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <stdexcept>

#include "workloads/networks/network.h"

namespace doetune::workloads {

/// All weights are one block of floats: for each convolution in layer order its weights (filters x
/// inputs x kernel x kernel) and then its biases (filters). Several processes can map the same
/// block.
std::int64_t weight_count(const Network& network);

struct ConvolutionWeights {
  std::span<const float> weights;  // filters x inputs x kernel x kernel
  std::span<const float> bias;     // filters
};

/// The part of the block that belongs to the convolution at index `layer`.
ConvolutionWeights convolution_weights(const Network& network, std::span<const float> block,
                                       int layer);

/// Fills the block with uniform weights of variance 2 / ((1 + slope^2) fan-in), which preserves the
/// magnitude of activations from layer to layer, and biases in +-0.1. Convolutions at the end of a
/// residual branch have a quarter of that variance, or activations would double with each block.
/// The same seed gives the same block on every machine. Source: He et al. (2015), "Delving deep
/// into rectifiers", eq. 15.
void random_weights(const Network& network, std::uint64_t seed, std::span<float> block);

struct WeightsError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Fills the block from a Darknet `.weights` file. The header is three 32-bit integers (major,
/// minor, revision) and the number of images seen: 64 bits from version 0.2 on, 32 before. Then,
/// for each convolution, 32-bit floats: bias, with batch normalisation also scale, mean and
/// variance, weights. Folding: w scale / (sqrt(variance) + 1e-6) and bias - mean scale /
/// (sqrt(variance) + 1e-6). Throws WeightsError, naming the file and both sizes, unless the file
/// has exactly the size expected.
void load_darknet_weights(const Network& network, const std::filesystem::path& file,
                          std::span<float> block);

}  // namespace doetune::workloads
