// Trains a classifier on a device; the second product of an Engine.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "workloads/engines/engine.h"
#include "workloads/networks/parameters.h"

namespace doetune::workloads {

/// Where the host's part of a copy to a device lies: in pages that stay where they are, so that the
/// device fetches them by itself, or in any pages, which the driver copies first.
enum class HostMemory { pinned, pageable };

struct TrainingOptions {
  int batch = 1;                          // most images in a step
  Precision precision = Precision::fp32;  // of weights and activations; parameters stay fp32
  int threads = 1;                        // CPU threads that a step may use
  float momentum = 0.9F;
  float weight_decay = 0.0F;  // of weights alone, not of biases, scales and shifts
  // Of the running mean and variance: r = r + momentum (batch's - r); the batch's variance with
  // n - 1 in the denominator.
  float statistics_momentum = 0.1F;
  HostMemory input_memory = HostMemory::pinned;  // of input(), where the device is no CPU
  // Leave gradients_block() in the device's memory, for a communicator between devices; the CPU
  // must not touch it then. Means nothing where the device is the CPU.
  bool gradients_on_device = false;
  // Of dropout. Processes that learn together drop what one would: the first image's index in the
  // batch of them all, and the first layer's in the whole network.
  std::uint64_t seed = 1;
  std::int64_t first_image = 0;
  int first_layer = 0;
};

/// What a batch told.
struct BatchScore {
  double loss = 0;  // mean of the images' softmax cross-entropy, -log p(label)
  int correct = 0;  // images whose label has the largest logit
};

/// What is parameters, and how a step changes it.
class Optimizer {
 public:
  virtual ~Optimizer() = default;

  /// v = momentum v + gradient + weight_decay w;  w = w - learning_rate v.
  /// Source: Sutskever et al. (2013), in PyTorch's form.
  virtual void update(float learning_rate) = 0;

  /// The parameters state, on the host, as it is when it is asked for; gradients that were told
  /// ready are there. The non-const spans may be written between steps (checkpoints, sums over
  /// processes); the device sees what was written after `changed`.
  virtual std::span<float> parameters() = 0;
  virtual std::span<float> gradients_block() = 0;
  virtual std::span<float> momentum_block() = 0;
  virtual std::span<float> statistics() = 0;
  virtual void changed() = 0;

  /// Updates so far: dropout draws anew after each. To be set where an earlier training goes on.
  std::int64_t updates() const { return updates_; }
  void continue_after(std::int64_t updates) { updates_ = updates; }

 protected:
  std::int64_t updates_ = 0;  // update() adds one
};

/// A network under training on one device. Used by one thread at a time.
///
/// A step: fill input() and labels(), then gradients(images), then update(learning_rate). Between
/// the two, processes that train together replace the gradients by their mean.
class TrainableNetwork : public Optimizer {
 public:
  /// Host buffers of batch x height x width x channels floats and of batch labels. input() is asked
  /// for anew for each batch: what a device has already is not copied again.
  virtual std::span<float> input() = 0;
  virtual std::span<std::int32_t> labels() = 0;

  /// Called when the part of the gradient block from `offset` to its end is final, while the rest
  /// is still being worked out; the last call has offset 0.
  using GradientsReady = std::function<void(std::int64_t offset)>;

  /// Forward and backward pass over the first `images`, batch statistics in batch normalisation;
  /// the gradient is that of the mean loss. Throws std::invalid_argument for a label that is no
  /// class.
  virtual BatchScore gradients(int images, const GradientsReady& ready = {}) = 0;

  /// Forward pass with the running statistics, nothing parameters. Logits of image i are
  /// logits()[i classes ...].
  virtual BatchScore evaluate(int images) = 0;
  virtual std::span<const float> logits() = 0;
};

/// A stage of a network (networks/stages.h) under training on one device. Used by one thread at a
/// time.
///
/// Several micro-batches can be under way, each in a slot: fill input(slot), then forward; hand on
/// output(slot); fill output_gradient(slot) with the gradient by it, then backward; hand back
/// input_gradient(slot). The stage that ends the network has labels(slot) in place of an output,
/// and the stage that begins it has no input gradient.
class TrainableStage : public Optimizer {
 public:
  /// Host buffers of batch x height x width x channels floats and of batch labels, for a slot.
  virtual std::span<float> input(int slot) = 0;
  virtual std::span<std::int32_t> labels(int slot) = 0;
  virtual std::span<const float> output(int slot) = 0;
  virtual std::span<float> output_gradient(int slot) = 0;
  virtual std::span<const float> input_gradient(int slot) = 0;

  /// Over the first `images` of the slot, with batch statistics in batch normalisation; the first
  /// of them is `first_image` of the whole batch (TrainingOptions). What backward needs stays in
  /// the slot.
  virtual void forward(int slot, int images, std::int64_t first_image) = 0;

  /// Of the images that went forward in this slot, once each; the gradient block gets their
  /// gradient in place of what it held. At the network's end it is that of their mean loss, and the
  /// score is theirs; elsewhere the score is empty. Throws std::invalid_argument for a label that
  /// is no class.
  virtual BatchScore backward(int slot) = 0;
};

}  // namespace doetune::workloads
