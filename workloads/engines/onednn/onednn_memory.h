// Memory of a network on oneDNN: large pages, and weights in the layouts of the primitives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <oneapi/dnnl/dnnl.hpp>
#include <optional>
#include <span>
#include <vector>

#include "workloads/engines/onednn/space_to_depth.h"
#include "workloads/networks/network.h"

namespace doetune::workloads::onednn {

/// As in workloads/memory.h, but throws CannotRun.
void require_memory(std::int64_t bytes);

/// Page-aligned memory, in large pages where available, since weights and activations are read in
/// long strides. Throws CannotRun.
class Buffer {
 public:
  explicit Buffer(std::size_t bytes);
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  char* at(std::size_t offset) const { return static_cast<char*>(data_) + offset; }
  float* floats() const { return static_cast<float*>(data_); }

 private:
  std::size_t bytes_;
  void* data_;
};

/// A convolution's weights in the layout of a primitive.
struct PackedWeights {
  dnnl::memory weights;
  dnnl::memory bias;
  std::shared_ptr<Buffer> storage;
};

/// Packs each layer's weights once for each layout requested. Batch sizes share layouts, except
/// that a large and a small one may need two for fully connected layers.
class WeightStore {
 public:
  WeightStore(const dnnl::engine& engine, const Network& network, std::span<const float> block)
      : engine_(engine), network_(network), block_(block) {}

  /// `dims`: filters x inputs x kernel height x kernel width.
  PackedWeights packed(int layer, const dnnl::memory::desc& wanted, const dnnl::memory::dims& dims);
  /// Transformed for a WinogradConvolution; with `blocks`, those of the equivalent convolution.
  PackedWeights winograd(int layer, int in_channels, int filters,
                         const std::optional<SpaceToDepth>& blocks);

 private:
  /// The weights kept in this layout; otherwise fills new ones by `fill(plain, packed)`.
  template <class Fill>
  PackedWeights kept_or(int layer, const dnnl::memory::desc& wanted, dnnl::memory::dim filters,
                        Fill fill);

  dnnl::engine engine_;
  const Network& network_;
  std::span<const float> block_;
  std::map<int, std::vector<PackedWeights>> kept_;
};

}  // namespace doetune::workloads::onednn
