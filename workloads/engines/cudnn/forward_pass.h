// A network's forward pass for one number of images: its work in order, and its memory.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "workloads/engines/cudnn/kernels.h"
#include "workloads/engines/cudnn/packed_weights.h"
#include "workloads/engines/cudnn/plan_chooser.h"
#include "workloads/engines/tensor_plan.h"

namespace doetune::workloads::cudnn {

/// What is independent of the number of images. The forward pass keeps a reference.
struct CompiledLayers {
  const Network& network;
  const TensorPlan& plan;
  const PackedWeights& weights;
  Precision precision;
};

class ForwardPass {
 public:
  /// Chooses a plan for each convolution. Throws CannotRun.
  ForwardPass(const CompiledLayers& layers, int images, PlanChooser& chooser);

  int images() const { return images_; }
  std::int64_t arena_bytes() const { return memory_.bytes; }

  /// Device memory that one run reads and writes.
  struct Buffers {
    void* image;    // the network's input, channels padded
    void* arena;    // arena_bytes()
    float* output;  // dense
  };
  /// Submits all work to the stream, which must be the handle's.
  void run(const Buffers& buffers, cudnnHandle_t handle, cudaStream_t stream) const;

 private:
  struct Run {
    const Buffers& buffers;
    cudnnHandle_t handle;
    Launch launch;
  };
  void plan_arena();
  std::byte* address(const Run& run, int use) const {
    return static_cast<std::byte*>(run.buffers.arena) + memory_.offsets[use];
  }
  View view(const Run& run, int layer) const;
  View input(const Run& run, int layer) const {
    return view(run, layers_.network.layers[layer].inputs[0]);
  }
  View output(const Run& run, int layer) const { return view(run, layer); }

  void apply(const Convolution& conv, const Run& run, int layer) const;
  void apply(const MaxPool& pool, const Run& run, int layer) const;
  void apply(const AveragePool& pool, const Run& run, int layer) const;
  void apply(const LocalResponseNorm& norm, const Run& run, int layer) const;
  void apply(const Sum& sum, const Run& run, int layer) const;
  void apply(const Upsample& op, const Run& run, int layer) const;
  void apply(const ChannelArgMax& op, const Run& run, int layer) const;
  void apply(const Reorg& op, const Run& run, int layer) const;
  void apply(const Route& op, const Run& run, int layer) const;

  CompiledLayers layers_;
  int images_;
  std::vector<std::shared_ptr<const ChosenPlan>> chosen_;  // by layer; null except for convolutions
  std::vector<int> workspace_use_;                         // by layer; index into memory_
  MemoryPlan memory_;                                      // tensors, then workspaces
};

}  // namespace doetune::workloads::cudnn
