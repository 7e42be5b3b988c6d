// A training step by pipeline parallelism: each rank has a stage of the network.
#pragma once

#include <future>
#include <vector>

#include "workloads/communication/data_parallel.h"

namespace doetune::workloads {

struct PipelineOptions {
  int batch = 1;                                     // images in a step
  int micro_batches = 1;                             // parts of it, each of at least one image
  CommunicationType type = CommunicationType::fp32;  // of activations and gradients between ranks
};

/// Images of the largest micro-batch.
int largest_micro_batch(const PipelineOptions& options);

/// The maximum number of micro-batches that a stage holds until their gradients come back.
int pipeline_slots(int rank, int ranks, const PipelineOptions& options);

/// A step sends the batch through the stages in micro-batches, each rank alternating one forward
/// and one backward pass ("1F1B"), and then updates all weights at once. The gradient of a
/// micro-batch is weighted by its fraction of the images. Up to rounding, this is one process's
/// step on the whole batch, in networks without batch normalisation; with it, each micro-batch is
/// normalised by its own statistics. Sources: Huang et al. (2019), GPipe; Narayanan et al. (2021),
/// Megatron-LM, section 2.2, with the flush.
class PipelineOfStages {
 public:
  /// This rank's stage must have pipeline_slots slots of largest_micro_batch images.
  PipelineOfStages(Communicator& communicator, TrainableStage& stage,
                   const PipelineOptions& options);

  struct Step {
    double loss = 0;      // mean of the batch; 0 but on the last rank
    double waited_s = 0;  // for other ranks
  };

  /// `images` (laid out as TrainableStage::input) are needed on rank 0 only, `labels` on the last
  /// rank only.
  Step step(std::span<const float> images, std::span<const std::int32_t> labels,
            float learning_rate);

 private:
  using Arriving = std::future<std::vector<float>>;

  bool first() const { return communicator_.rank() == 0; }
  bool last() const { return communicator_.rank() == communicator_.size() - 1; }
  BatchShare share(int micro_batch) const;
  Arriving expect(std::span<const float> buffer, int images, int from);
  void take(Arriving& arriving, std::span<float> into);
  void send(std::span<const float> buffer, int images, int to);
  void fill(int micro_batch, std::span<const float> images, std::span<const std::int32_t> labels);
  void forward(int micro_batch);
  double backward(int micro_batch);

  Communicator& communicator_;
  TrainableStage& stage_;
  PipelineOptions options_;
  int slots_;
  Arriving input_;                          // of the next micro-batch
  std::vector<Arriving> output_gradients_;  // by slot
  std::vector<float> gradient_;             // sum over the micro-batches so far
  double waited_s_ = 0;
};

}  // namespace doetune::workloads
