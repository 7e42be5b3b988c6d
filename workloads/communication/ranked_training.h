// One rank's part of a step of train-data-parallel, by data or pipeline parallelism.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "workloads/communication/communicator.h"
#include "workloads/protocol/protocol.h"

namespace doetune::workloads {

struct RankStep {
  double loss = 0;      // this rank's contribution to the batch's mean loss
  double waited_s = 0;  // for other ranks
};

/// A rank's part of a training. All ranks of its communicator call these, in the same order.
struct RankTraining {
  std::function<RankStep()> step;
  /// Of the whole network, current (networks/parameters.h).
  std::function<std::vector<float>()> parameters;
};

/// Throws UsageError where the batch or the network cannot be divided among the ranks.
void check_shares(const Request& request, int ranks);

/// Trains on random images that stay in memory: uniform noise of mean 0 and variance 1, random
/// labels, the same for any number of ranks. All ranks of the communicator call it, after
/// check_shares. Throws CannotRun.
RankTraining make_rank_training(Communicator& communicator, const Request& request,
                                std::string_view parallelism);

}  // namespace doetune::workloads
