// Partition of a network into consecutive stages, one per process.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/networks/network.h"

namespace doetune::workloads {

/// Consecutive layers of a network as a network of their own. A stage that does not start at the
/// image begins with a Route of its input, whose gradient is that with respect to the input; one
/// that does not end at the last layer has no head (NoHead).
struct NetworkStage {
  Network network;
  int first_layer;               // index of its first layer in the whole network
  std::int64_t first_parameter;  // offset of its parameters in the whole network's (parameters.h)
  std::int64_t first_statistic;
};

/// The layers after which the network can be cut: of the layers before a cut, later ones read only
/// the last, as at the end of a residual block.
std::vector<int> cuts(const Network& network);

/// Partitions into this number of stages, each with at least one convolution, that minimise the
/// multiply-accumulates of the largest and, among those, the amount sent. Throws
/// std::invalid_argument, with the maximum number of stages, where the network has too few cuts.
std::vector<NetworkStage> network_stages(const Network& network, int stages);

}  // namespace doetune::workloads
