// The largest number of cameras that a setting keeps up with.
#pragma once

#include <functional>
#include <optional>
#include <vector>

namespace doetune::workloads {

/// One number of channels, tried: its mean processing time over the interval. Up to 1 the stream
/// keeps up; above, its scheduling delay grows without bound.
struct ChannelProbe {
  int channels = 0;
  double load = 0;
  bool sustained() const { return load <= 1; }
};

struct ChannelSearch {
  int channels = 0;  ///< the largest sustained one that was tried; 0 where 1 is too many
  std::vector<ChannelProbe> probes;
  bool complete = true;  ///< not ended by the time, nor by `most`
};

/// Doubles the channels from `least` until a probe is not sustained, then halves the bracket until
/// it is no wider than 2 % or one channel. `measure(channels)` is the load; empty where no time is
/// left for it.
ChannelSearch find_sustained_channels(int least, int most,
                                      const std::function<std::optional<double>(int)>& measure);

}  // namespace doetune::workloads
