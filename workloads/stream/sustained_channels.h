// Search for the maximum number of cameras that a configuration sustains.
#pragma once

#include <functional>
#include <optional>
#include <vector>

namespace doetune::workloads {

/// The load at a number of channels: mean processing time over interval. Up to 1 the stream keeps
/// up; above, its scheduling delay grows without bound.
struct ChannelProbe {
  int channels = 0;
  double load = 0;
  bool sustained() const { return load <= 1; }
};

struct ChannelSearch {
  int channels =
      0;  ///< the largest sustained number tried; 0 where even `min_channels` is too many
  std::vector<ChannelProbe> probes;
  bool complete = true;  ///< false if ended by the time limit or by `max_channels`
};

/// Doubles the channels from `min_channels` until a probe is not sustained, then bisects until the
/// bracket is no wider than 2 % or one channel. `measure(channels)` returns the load; empty where
/// no time is left for it.
ChannelSearch find_sustained_channels(int min_channels, int max_channels,
                                      const std::function<std::optional<double>(int)>& measure);

}  // namespace doetune::workloads
