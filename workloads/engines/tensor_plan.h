// Which memory holds the results of a network's layers, for any engine whose tensors are NHWC: what
// shares a tensor, from when to when each is needed, and where it lies in one arena.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "workloads/networks/network.h"

namespace doetune::workloads {

/// `channels` channels of a tensor from `first_channel` on; `pitch` from pixel to pixel.
struct ChannelView {
  int tensor = kNetworkInput;  // index into TensorPlan::tensors; kNetworkInput is the image's
  int first_channel = 0;
  int channels = 0;
  int pitch = 0;
};

/// One image's tensor, its channels rounded up, and the layers between which it is needed.
struct PlannedTensor {
  Shape shape;
  int first = 0;  // the first layer that writes into it
  int last = 0;   // the last one that reads it; the number of layers for the network's output
};

struct TensorPlan {
  std::vector<PlannedTensor> tensors;
  ChannelView image;               // the network's input
  std::vector<ChannelView> views;  // of each layer's result
  std::vector<int> fused;          // fused_sums of the network

  const ChannelView& view_of(int layer) const {
    return layer == kNetworkInput ? image : views[layer];
  }
  /// Whether a route's input lies where the route's result wants it, so that nothing is copied.
  /// `first_channel` is where that input begins among the route's channels.
  bool in_place(int route, int input, int first_channel) const;
};

/// A tensor's channels are rounded up to a multiple of `channel_multiple`; the channels beyond the
/// layer's own hold zeros, so that convolutions may read them. A route with one input is its input.
/// A sum that a convolution can add (fused_sums) is written by it. Inputs of a joining route are
/// written into its tensor at once where their channels and their place are such multiples and no
/// other join has them.
TensorPlan plan_tensors(const Network& network, int channel_multiple);

/// Memory that is needed from step `first` to step `last`, both included.
struct MemoryUse {
  std::int64_t bytes = 0;
  int first = 0;
  int last = 0;
};

struct MemoryPlan {
  std::vector<std::int64_t> offsets;  // of each use
  std::int64_t bytes = 0;             // of the arena
};

/// Places uses in one arena so that none overlaps another that is needed at the same step; offsets
/// are multiples of `alignment`. Largest first, each into the lowest gap that holds it. Source:
/// Pisarchyk & Lee (2020), "Efficient memory management for deep neural net inference", greedy by
/// size.
MemoryPlan plan_memory(std::span<const MemoryUse> uses, std::int64_t alignment);

}  // namespace doetune::workloads
