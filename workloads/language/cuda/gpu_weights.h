// The weights of a decoder in the memory of a GPU.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/engines/cudnn/device.h"
#include "workloads/language/decoder_weights.h"

namespace doetune::workloads::language {

/// A matrix of every layer: rows outputs of `columns` inputs, row-major.
struct LayerMatrices {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::vector<const void*> layers;
};

class GpuWeights {
 public:
  /// Random weights. Throws CannotRun.
  GpuWeights(const DecoderShape& shape, std::uint64_t seed, Precision precision,
             cudaStream_t stream);

  /// The tensors `first` to `last` of each layer, which follow each other.
  LayerMatrices matrices(TensorKind first, TensorKind last) const;

  /// The logits' matrix: the embedding where they are tied.
  LayerMatrices logits() const;

  /// A tensor of a layer.
  const void* tensor(TensorKind kind, int layer) const;

  std::int64_t bytes() const { return memory_.bytes(); }

 private:
  const Tensor* find(TensorKind kind, int layer) const;
  const void* at(std::int64_t offset) const;

  std::vector<Tensor> tensors_;
  int layers_;
  int number_bytes_;
  cudnn::DeviceBuffer memory_;
};

}  // namespace doetune::workloads::language
