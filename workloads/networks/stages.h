// A network cut into stages that follow one another, one a process.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/networks/network.h"

namespace doetune::workloads {

/// Consecutive layers of a network as a network of their own. One that does not begin at the image
/// has a Route of its input as its first layer, whose gradient is that by the input; one that does
/// not end at the last layer has no head (NoHead).
struct NetworkStage {
  Network network;
  int first_layer;               // what a layer's index is counted from in the whole network
  std::int64_t first_parameter;  // of its block in the whole network's (parameters.h)
  std::int64_t first_statistic;
};

/// The layers after which the network can be cut: those that read what comes before read that one
/// layer's result, as at the end of a residual block.
std::vector<int> cuts(const Network& network);

/// As many stages, each with at least one convolution, such that the largest has as few
/// multiply-accumulates as can be; among those, such that the least is sent. Throws
/// std::invalid_argument, with the most that there can be, where the network has fewer cuts.
std::vector<NetworkStage> network_stages(const Network& network, int stages);

}  // namespace doetune::workloads
