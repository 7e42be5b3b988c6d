// A training step on several ranks, each with a part of the batch.
#pragma once

#include "workloads/communication/buckets.h"
#include "workloads/engines/training.h"

namespace doetune::workloads {

/// A rank's images, [first, first + count) of the batch; the counts differ by at most one.
struct BatchShare {
  int first;
  int count;
};
BatchShare batch_share(int batch, int rank, int ranks);

struct DataParallelOptions {
  std::int64_t bucket = (25 << 20) / 4;  // floats
  CommunicationType type = CommunicationType::fp32;
  // TrainingOptions::gradients_on_device: the communicator must be able to sum them there.
  bool gradients_on_device = false;
};

/// All ranks hold the same parameters and momentum, bit for bit, before and after every step.
///
/// A rank's gradient is that of the mean loss of its c of B images, so the gradient of the joint
/// batch is the sum over ranks of c / B times theirs. Up to rounding, this is one process's step on
/// the joint batch, in networks without batch normalisation; with it, each rank normalises by the
/// statistics of its own images. A single rank sums nothing.
class DataParallel {
 public:
  /// Broadcasts rank 0's parameters, momentum and statistics.
  DataParallel(Communicator& communicator, TrainableNetwork& network,
               const DataParallelOptions& options);

  struct Step {
    BatchScore score;     // of this rank's images
    double waited_s = 0;  // for sums, after the backward pass
  };

  /// A step on this rank's part of a batch, which network.input() and labels() hold.
  Step step(int batch, float learning_rate);

 private:
  float weight(int batch) const;

  Communicator& communicator_;
  TrainableNetwork& network_;
  bool gradients_on_device_;
  GradientSum sum_;
};

}  // namespace doetune::workloads
