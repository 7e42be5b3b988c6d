// One step of training on several ranks, each with a part of the batch.
#pragma once

#include "workloads/communication/buckets.h"
#include "workloads/engines/training.h"

namespace doetune::workloads {

/// Images [first, first + count) of a batch are a rank's; the counts differ by one at most.
struct BatchShare {
  int first;
  int count;
};
BatchShare batch_share(int batch, int rank, int ranks);

struct DataParallelOptions {
  std::int64_t bucket = (25 << 20) / 4;  // floats
  CommunicationType type = CommunicationType::fp32;
  // TrainingOptions::gradients_on_device: they are summed there, by a communicator that does.
  bool gradients_on_device = false;
};

/// All ranks hold the same parameters and momentum, bit for bit, before and after every step.
///
/// A rank's gradient is that of the mean loss of its c of B images, so the sum over ranks of c / B
/// times it is the gradient of the joined batch. That is one process's step on the joined batch,
/// but for rounding, in networks without batch normalisation; with it, each rank normalises by the
/// statistics of its own images. One rank alone sums nothing.
class DataParallel {
 public:
  /// Rank 0's parameters, momentum and statistics become everybody's.
  DataParallel(Communicator& communicator, TrainableNetwork& network,
               const DataParallelOptions& options);

  struct Step {
    BatchScore score;     // of this rank's images
    double waited_s = 0;  // for sums, after the backward pass
  };

  /// A step on this rank's share of a batch, which lies in network.input() and labels().
  Step step(int batch, float learning_rate);

 private:
  float weight(int batch) const;

  Communicator& communicator_;
  TrainableNetwork& network_;
  bool gradients_on_device_;
  GradientSum sum_;
};

}  // namespace doetune::workloads
