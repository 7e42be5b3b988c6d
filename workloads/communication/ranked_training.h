// What one rank does in a step of train-data-parallel, by either kind of parallelism.
#pragma once

#include <functional>
#include <string_view>

#include "workloads/communication/communicator.h"
#include "workloads/protocol/protocol.h"

namespace doetune::workloads {

struct RankStep {
  double loss = 0;      // this rank's part of the batch's mean loss
  double waited_s = 0;  // for other ranks
};

/// Throws UsageError where the batch or the network cannot be shared out among the ranks.
void check_shares(const Request& request, int ranks);

/// A step of this rank, on images that are drawn at random and stay in place: uniform noise of mean
/// 0 and variance 1, labels at random, the same for any number of ranks. All ranks of the
/// communicator call it, and then the step, equally often. After check_shares; throws CannotRun.
std::function<RankStep()> make_rank_step(Communicator& communicator, const Request& request,
                                         std::string_view parallelism);

}  // namespace doetune::workloads
