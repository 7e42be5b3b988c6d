// A network's weights in the layout and precision of the GPU kernels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "workloads/engines/cudnn/device.h"
#include "workloads/engines/engine.h"
#include "workloads/engines/tensor_plan.h"
#include "workloads/networks/network.h"

namespace doetune::workloads::cudnn {

/// The numbers, contiguous, rounded to nearest even in the type of the precision.
std::vector<std::byte> rounded(std::span<const float> numbers, Precision precision);

/// Sizes of a convolution's filters; `padded` counts include padding with zeros.
struct FilterSizes {
  int filters;
  int padded_filters;
  int inputs;
  int padded_inputs;
  Extent kernel;
};

/// From filters x inputs x height x width to padded filters x height x width x padded inputs.
std::vector<float> channels_last(std::span<const float> weights, const FilterSizes& sizes);

/// Weights and biases of all convolutions, converted once, in one block on the GPU.
class PackedWeights {
 public:
  /// `block` as in weights.h. Submits the copies to the stream. Throws CannotRun.
  PackedWeights(const Network& network, const TensorPlan& plan, std::span<const float> block,
                Precision precision, cudaStream_t stream);

  void* weights(int layer) const { return storage_.at(positions_[layer].weights); }
  void* bias(int layer) const { return storage_.at(positions_[layer].bias); }
  std::int64_t bytes() const { return storage_.bytes(); }

 private:
  struct Position {
    std::int64_t weights = 0;
    std::int64_t bias = 0;
  };
  std::vector<Position> positions_;  // by layer
  DeviceBuffer storage_;
};

}  // namespace doetune::workloads::cudnn
