// Memory planning for the results of a network's layers, for engines with NHWC tensors: which
// layers share a tensor, its lifetime, and its offset in one arena.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "workloads/networks/network.h"

namespace doetune::workloads {

/// `channels` channels of a tensor from `first_channel` on; `pitch` from pixel to pixel.
struct ChannelView {
  int tensor = kNetworkInput;  // index into TensorPlan::tensors; kNetworkInput for the image
  int first_channel = 0;
  int channels = 0;
  int pitch = 0;
};

/// One image's tensor, its channels padded, and its lifetime in layers.
struct PlannedTensor {
  Shape shape;
  int first = 0;  // first layer that writes to it
  int last = 0;   // last layer that reads it; the number of layers for the network's output
};

struct TensorPlan {
  std::vector<PlannedTensor> tensors;
  ChannelView image;               // the network's input
  std::vector<ChannelView> views;  // of each layer's result
  std::vector<int> fused;          // as fused_sums of the network

  const ChannelView& view_of(int layer) const {
    return layer == kNetworkInput ? image : views[layer];
  }
  /// Whether a route's input is already stored in the route's result, so that nothing is copied.
  /// `first_channel` is where that input starts among the route's channels.
  bool in_place(int route, int input, int first_channel) const;
};

/// A tensor's channels are padded to a multiple of `channel_multiple` with zeros, so that
/// convolutions may read them. A route with one input is an alias of it. A sum that a convolution
/// can add (fused_sums) is written by that convolution. Inputs of a concatenating route are written
/// into its tensor directly where their channels and offset are such multiples and no other
/// concatenation contains them.
TensorPlan plan_tensors(const Network& network, int channel_multiple);

/// Memory needed from step `first` to step `last`, both inclusive.
struct MemoryUse {
  std::int64_t bytes = 0;
  int first = 0;
  int last = 0;
};

struct MemoryPlan {
  std::vector<std::int64_t> offsets;  // of each use
  std::int64_t bytes = 0;             // of the arena
};

/// Places uses in one arena so that none overlaps another with a common step; offsets are multiples
/// of `alignment`. Largest first, each into the lowest gap that holds it. Source: Pisarchyk & Lee
/// (2020), "Efficient memory management for deep neural net inference", greedy by size.
MemoryPlan plan_memory(std::span<const MemoryUse> uses, std::int64_t alignment);

}  // namespace doetune::workloads
