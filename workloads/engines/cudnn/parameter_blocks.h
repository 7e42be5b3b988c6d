// A network's parameters and training state in GPU memory, and their copies on the host.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "workloads/engines/cudnn/device.h"
#include "workloads/engines/cudnn/parameter_kernels.h"
#include "workloads/engines/tensor_plan.h"
#include "workloads/networks/parameters.h"

namespace doetune::workloads::cudnn {

/// The offset of each parameter tensor, in the blocks and in the packed copy.
class ParameterLayout {
 public:
  ParameterLayout(const Network& network, const TensorPlan& plan, Precision precision);

  /// The tensors of one convolution.
  struct Position {
    int weights = -1;             // index into tensors(); bias, or scale and shift, follow
    std::int64_t statistics = 0;  // of its running means; the variances follow
  };
  const Position& position(int layer) const { return positions_[layer]; }
  const TrainedTensor& weights(int layer) const { return tensors_[positions_[layer].weights]; }
  const TrainedTensor& bias_or_scale(int layer) const {
    return tensors_[positions_[layer].weights + 1];
  }
  const TrainedTensor& shift(int layer) const { return tensors_[positions_[layer].weights + 2]; }

  const std::vector<TrainedTensor>& tensors() const { return tensors_; }
  /// Chunks of all tensors, in order.
  const std::vector<Chunk>& chunks() const { return chunks_; }
  /// The first chunk of the tensors from `offset` on.
  std::int64_t first_chunk(std::int64_t offset) const;
  std::int64_t count() const { return count_; }
  std::int64_t packed_elements() const { return packed_elements_; }
  std::int64_t statistics() const { return statistics_; }

 private:
  std::vector<Position> positions_;  // by layer
  std::vector<TrainedTensor> tensors_;
  std::vector<Chunk> chunks_;
  std::int64_t count_ = 0;
  std::int64_t packed_elements_ = 0;
  std::int64_t statistics_ = 0;
};

/// The blocks of TrainableNetwork. On the GPU weights are channels last (TrainedTensor); copies on
/// the host are made on request. All work is submitted to one stream.
class ParameterBlocks {
 public:
  enum class Block { parameters, gradients, momentum, statistics };

  /// Throws CannotRun.
  ParameterBlocks(ParameterLayout layout, Precision precision, cudaStream_t stream,
                  std::span<const float> parameters, std::span<const float> statistics);

  const ParameterLayout& layout() const { return layout_; }
  float* on_gpu(Block block) const { return static_cast<float*>(part(block).gpu.data()); }
  float* parameters(const TrainedTensor& tensor) const {
    return on_gpu(Block::parameters) + tensor.offset;
  }
  float* gradients(const TrainedTensor& tensor) const {
    return on_gpu(Block::gradients) + tensor.offset;
  }
  /// The packed copy of a tensor, and the packed gradient with respect to it.
  void* packed(const TrainedTensor& tensor) const { return packed_.at(tensor.packed * bytes_); }
  void* packed_gradient(const TrainedTensor& tensor) const {
    return packed_gradients_.at(tensor.packed * bytes_);
  }

  /// The block on the host, up to date; waits for the GPU where it has changed the block.
  std::span<float> on_host(Block block);
  /// The block's host memory, without an update.
  float* host_memory(Block block);
  /// Marks a block's host copy as outdated (changed by the GPU) or up to date.
  void set_current(Block block, bool current) { part(block).current = current; }
  /// Uploads the blocks that are current on the host; returns when done.
  void upload();

  /// Submits the unpacking of the packed gradients between two offsets into their block.
  void unpack(std::int64_t from, std::int64_t to) const;
  /// Submits the copy of the same part of the gradients to the host.
  void fetch_gradients(std::int64_t from, std::int64_t to);
  void sgd_step(const Sgd& sgd);

 private:
  struct Part {
    DeviceBuffer gpu;
    PinnedBuffer host;
    bool current = false;  // the host's copy is up to date
  };
  Part& part(Block block) { return parts_[static_cast<std::size_t>(block)]; }
  const Part& part(Block block) const { return parts_[static_cast<std::size_t>(block)]; }
  void give(Block block, std::span<const float> values);
  void move(Block block, Transfer direction);
  ParameterChunks chunks(std::int64_t from, std::int64_t to) const;
  ParameterChunks all_chunks() const { return chunks(0, layout_.count()); }

  ParameterLayout layout_;
  int bytes_;  // per packed number
  Launch launch_;
  std::array<Part, 4> parts_;
  DeviceBuffer packed_;
  DeviceBuffer packed_gradients_;
  DeviceBuffer tensors_;
  DeviceBuffer chunks_;
};

}  // namespace doetune::workloads::cudnn
