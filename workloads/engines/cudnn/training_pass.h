// A training step for one number of images: its work in order, and its memory.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <vector>

#include "workloads/engines/cudnn/parameter_blocks.h"
#include "workloads/engines/cudnn/plan_chooser.h"
#include "workloads/engines/cudnn/training_graphs.h"
#include "workloads/engines/cudnn/training_kernels.h"
#include "workloads/engines/training.h"

namespace doetune::workloads::cudnn {

/// What is independent of the number of images. The pass keeps the references.
struct TrainedLayers {
  const Network& network;
  const TensorPlan& plan;
  const ParameterLayout& layout;
  const TrainingOptions& options;
};

/// Results are laid out by TensorPlan, and gradients with respect to them in tensors of the same
/// kind, so that layers which share a result tensor share its gradient: branches of a
/// concatenation, a residual sum and the convolution before it. The first reader of a result (from
/// the network's end) writes the gradient with respect to it, the others add. Each tensor occupies
/// its part of one arena (a buffer) from its first step to its last.
class TrainingPass {
 public:
  /// Chooses a plan for each convolution and its gradients; runs nothing on the GPU except to time
  /// plans. Throws CannotRun.
  TrainingPass(const TrainedLayers& layers, int images, PlanChooser& chooser);
  TrainingPass(const TrainingPass&) = delete;  // the steps refer to it
  TrainingPass& operator=(const TrainingPass&) = delete;

  std::int64_t arena_bytes() const { return memory_.bytes; }

  /// Steps after which the gradients from `offset` on are complete (weights' gradients in packed
  /// form), from the block's end down to offset 0 after the last step; each adds at least an eighth
  /// of the block.
  struct Point {
    std::size_t end;
    std::int64_t offset;
  };
  const std::vector<Point>& points() const { return points_; }

  /// What one run reads and writes, in device memory or page-locked host memory.
  struct Buffers {
    void* image;  // the network's input, channels padded
    const std::int32_t* labels;
    const std::int64_t* step;  // updates so far, on the device
    void* arena;               // arena_bytes()
    float* logits;             // dense
    float* losses;             // of each image
    std::int32_t* correct;
  };
  struct Run {
    Buffers buffers;
    const ParameterBlocks& parameters;
    cudnnHandle_t handle;
    cudaStream_t stream;  // the handle's
    bool learning = true;
    float statistics_momentum = 0;  // 0 leaves the running statistics as they are
  };
  /// The forward pass with the running statistics; no gradients.
  void evaluate(Run run) const;
  /// The steps [first, end) of the forward and backward pass.
  void learn(const Run& run, std::size_t first, std::size_t end) const;

  /// The parts of the arena, each needed from step `first` to step `last`: for tests.
  const std::vector<MemoryUse>& buffers() const { return buffers_; }
  const MemoryPlan& memory() const { return memory_; }

 private:
  static constexpr int kNowhere = -2;
  static constexpr int kImage = -1;
  /// A View whose address is resolved when the pass runs.
  struct Tensor {
    int buffer = kNowhere;
    std::int64_t offset = 0;  // bytes
    int channels = 0;
    int height = 0;
    int width = 0;
    int pitch = 0;
    bool dense() const { return pitch == channels; }
  };
  /// The destination of a gradient, and whether it is written or added.
  struct Target {
    Tensor tensor;
    Write write;
  };
  struct PlannedConvolution {
    std::shared_ptr<const ChosenPlan> chosen;
    int workspace;  // index into buffers_, or kNowhere
  };

  // training_pass.cpp: memory and steps
  int new_buffer(std::int64_t bytes);
  Tensor new_tensor(const Shape& shape, int channels);
  Tensor part_of(const ChannelView& view, const Shape& shape, int buffer) const;
  void step(std::initializer_list<int> buffers, std::function<void(const Run&)> work);
  Tensor result(int layer);
  bool has_gradient(int layer) const;
  Tensor gradient(int layer) const;
  Target target(int layer);
  bool shares_gradient(int sum, int input) const;
  void* data(const Run& run, int buffer) const;
  View view(const Run& run, const Tensor& tensor) const;
  Launch launch(const Run& run) const { return {layers_.options.precision, images_, run.stream}; }
  std::int64_t bytes_of_number() const { return bytes_of(layers_.options.precision); }
  std::int64_t scratch_bytes(const Tensor& tensor) const;
  void add_loss();

  // training_convolutions.cpp
  PlannedConvolution planned(const ConvolutionCase& problem);
  void run(const PlannedConvolution& planned, const Run& run, Plan::Pointers pointers) const;
  void add(const Convolution& conv, int layer);
  void add_normalised(const Convolution& conv, int layer, const TrainingConvolutions& passes);
  void add_biased(const Convolution& conv, int layer, const TrainingConvolutions& passes);
  Dropout dropout_of(const Run& run, const Convolution& conv, int layer) const;
  /// The input of the convolution, after dropout.
  Tensor input_of(const Convolution& conv, int layer);
  NormLayer norm_layer(const Run& run, int layer, int channels_buffer) const;
  void add_gradients(const Convolution& conv, int layer, const TrainingConvolutions& passes,
                     const Tensor& input, const Tensor& product_gradient);
  void add_input_gradient(const Convolution& conv, int layer, const ConvolutionCase& problem,
                          const Tensor& product_gradient);
  void finished(std::int64_t offset);

  // training_pass.cpp: other layers
  void add(const MaxPool& pool, int layer);
  void add(const AveragePool& pool, int layer);
  void add(const LocalResponseNorm& norm, int layer);
  void add(const Sum& sum, int layer);
  void add(const Route& route, int layer);
  template <class Op>
  void add(const Op&, int) {
    throw CannotRun("the GPU engine cannot train a layer of this network");
  }

  TrainedLayers layers_;
  int images_;
  PlanChooser* chooser_;               // during construction
  std::vector<int> result_buffers_;    // by tensor of the plan; kNowhere before it is written
  std::vector<int> gradient_buffers_;  // likewise
  std::vector<std::function<void()>> add_backward_;  // by layer, called in reverse
  std::vector<std::function<void(const Run&)>> steps_;
  std::size_t forward_end_ = 0;
  std::vector<Point> points_;
  std::vector<MemoryUse> buffers_;
  MemoryPlan memory_;
};

}  // namespace doetune::workloads::cudnn
