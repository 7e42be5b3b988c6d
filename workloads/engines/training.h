// The device-independent interface for training a classifier or a stage of one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>

#include "workloads/engines/engine.h"
#include "workloads/networks/parameters.h"

namespace doetune::workloads {

/// The host memory of copies to a device: page-locked, which the device reads by DMA, or pageable,
/// which the driver copies first.
enum class HostMemory { pinned, pageable };

struct TrainingOptions {
  int batch = 1;                          // maximum number of images in a step
  Precision precision = Precision::fp32;  // of weights and activations; parameters stay fp32
  int threads = 1;                        // CPU threads per step
  float momentum = 0.9F;
  float weight_decay = 0.0F;  // of weights only, not of biases, scales and shifts
  // The update of the running mean and variance: r = r + momentum (batch's - r); the batch's
  // variance with n - 1 in the denominator.
  float statistics_momentum = 0.1F;
  HostMemory input_memory = HostMemory::pinned;  // of input(), where the device is not the CPU
  // Leave gradients_block() in device memory, for a communicator between devices; the CPU must not
  // touch it then. No effect where the device is the CPU.
  bool gradients_on_device = false;
  // For dropout. Processes that train together drop what a single one would: the index of the first
  // image in the joint batch, and of the first layer in the whole network.
  std::uint64_t seed = 1;
  std::int64_t first_image = 0;
  int first_layer = 0;
};

/// The loss and accuracy of a batch.
struct BatchScore {
  double loss = 0;  // mean of the images' softmax cross-entropy, -log p(label)
  int correct = 0;  // images whose label has the largest logit
};

/// The parameters, and their update by a step.
class Optimizer {
 public:
  virtual ~Optimizer() = default;

  /// v = momentum v + gradient + weight_decay w;  w = w - learning_rate v.
  /// Source: Sutskever et al. (2013), in PyTorch's form.
  virtual void update(float learning_rate) = 0;

  /// The training state on the host, current at the time of the call; of the gradients, those
  /// reported ready. The non-const spans may be written between steps (checkpoints, sums over
  /// processes); call `changed` to pass the changes to the device.
  virtual std::span<float> parameters() = 0;
  virtual std::span<float> gradients_block() = 0;
  virtual std::span<float> momentum_block() = 0;
  virtual std::span<float> statistics() = 0;
  virtual void changed() = 0;

  /// Updates so far: dropout draws anew after each. Set it when an earlier training is resumed.
  std::int64_t updates() const { return updates_; }
  void continue_after(std::int64_t updates) { updates_ = updates; }

 protected:
  std::int64_t updates_ = 0;  // incremented by update()
};

/// A network under training on one device. Used by one thread at a time.
///
/// A step: fill input() and labels(), then gradients(images), then update(learning_rate). Between
/// the last two, processes that train together replace the gradients by their mean. To prepare the
/// next batch while the device computes: load, start, load the next batch, finish.
class TrainableNetwork : public Optimizer {
 public:
  /// Host buffers of batch x height x width x channels floats and of batch labels. Call input() for
  /// each new batch: without the call, the images already on the device are used again.
  virtual std::span<float> input() = 0;
  virtual std::span<std::int32_t> labels() = 0;

  /// Gives the batch of the next pass, in place of input() and labels(), and begins its upload. It
  /// may be called between start and finish; a later batch, or input(), replaces it. Throws
  /// std::invalid_argument for more images than a batch, or another number of labels.
  virtual void load(std::span<const float> images, std::span<const std::int32_t> labels) {
    const std::span<float> all = input();
    if (images.size() > all.size() || labels.size() > this->labels().size())
      throw std::invalid_argument("load: more images than a batch");
    std::ranges::copy(images, all.begin());
    std::ranges::copy(labels, this->labels().begin());
  }

  enum class Pass { gradients, evaluation };
  /// gradients(images) or evaluate(images) in two parts: the device works between them, unless it
  /// is the CPU, which does all of it in the first.
  virtual void start(Pass pass, int images) {
    score_ = pass == Pass::gradients ? gradients(images) : evaluate(images);
  }
  virtual BatchScore finish() { return score_; }

  /// Called when the part of the gradient block from `offset` to its end is final, while the rest
  /// is still being computed; the last call has offset 0.
  using GradientsReady = std::function<void(std::int64_t offset)>;

  /// Forward and backward pass over the first `images`, with batch statistics in batch
  /// normalisation; the gradient is that of the mean loss. Throws std::invalid_argument for an
  /// invalid label.
  virtual BatchScore gradients(int images, const GradientsReady& ready = {}) = 0;

  /// Forward pass with the running statistics; changes no parameters. The logits of image i are
  /// logits()[i classes ...].
  virtual BatchScore evaluate(int images) = 0;
  virtual std::span<const float> logits() = 0;

 private:
  BatchScore score_;  // of the pass that was started
};

/// A stage of a network (networks/stages.h) under training on one device. Used by one thread at a
/// time.
/// Several micro-batches can be in flight, each in a slot: fill input(slot), then forward; pass on
/// output(slot); fill output_gradient(slot) with the gradient with respect to it, then backward;
/// pass back input_gradient(slot). The last stage has labels(slot) in place of an output, and the
/// first stage has no input gradient.
class TrainableStage : public Optimizer {
 public:
  /// Host buffers of batch x height x width x channels floats and of batch labels, for a slot.
  virtual std::span<float> input(int slot) = 0;
  virtual std::span<std::int32_t> labels(int slot) = 0;
  virtual std::span<const float> output(int slot) = 0;
  virtual std::span<float> output_gradient(int slot) = 0;
  virtual std::span<const float> input_gradient(int slot) = 0;

  /// Forward pass over the first `images` of the slot, with batch statistics in batch
  /// normalisation; `first_image` is the index of the first one in the whole batch
  /// (TrainingOptions). What backward needs stays in the slot.
  virtual void forward(int slot, int images, std::int64_t first_image) = 0;

  /// Backward pass over the images of the slot's last forward pass, once for each; overwrites the
  /// gradient block. In the last stage the gradient is that of their mean loss, and the score is
  /// theirs; elsewhere the score is empty. Throws std::invalid_argument for an invalid label.
  virtual BatchScore backward(int slot) = 0;
};

}  // namespace doetune::workloads
