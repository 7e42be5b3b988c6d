// What one rank does in a step of train-data-parallel, by either kind of parallelism.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "workloads/communication/communicator.h"
#include "workloads/protocol/protocol.h"

namespace doetune::workloads {

struct RankStep {
  double loss = 0;      // this rank's part of the batch's mean loss
  double waited_s = 0;  // for other ranks
};

/// A rank's part of a training. All ranks of its communicator call these, in the same order.
struct RankTraining {
  std::function<RankStep()> step;
  /// The whole network's, as they are now (networks/parameters.h).
  std::function<std::vector<float>()> parameters;
};

/// Throws UsageError where the batch or the network cannot be shared out among the ranks.
void check_shares(const Request& request, int ranks);

/// Trains on images that are drawn at random and stay in place: uniform noise of mean 0 and
/// variance 1, labels at random, the same for any number of ranks. All ranks of the communicator
/// call it. After check_shares; throws CannotRun.
RankTraining make_rank_training(Communicator& communicator, const Request& request,
                                std::string_view parallelism);

}  // namespace doetune::workloads
