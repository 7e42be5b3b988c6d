#include "workloads/stream/sustained_channels.h"

#include <algorithm>

namespace doetune::workloads {

ChannelSearch find_sustained_channels(int least, int most,
                                      const std::function<std::optional<double>(int)>& measure) {
  constexpr int kResolution = 50;  // final bracket of 1 / 50
  ChannelSearch search;
  std::optional<int> too_many;
  const auto next = [&] {
    if (too_many) return search.channels + (*too_many - search.channels) / 2;
    return search.channels == 0 ? least : std::min(most, 2 * search.channels);
  };
  const auto done = [&] {
    if (!too_many) return search.channels == most;
    return *too_many <= least ||
           *too_many - search.channels <= std::max(1, search.channels / kResolution);
  };
  while (!done()) {
    const int channels = std::max(least, next());
    const auto load = measure(channels);
    if (!load) break;
    search.probes.push_back({channels, *load});
    if (search.probes.back().sustained())
      search.channels = channels;
    else
      too_many = channels;
  }
  search.complete = too_many && done();
  return search;
}

}  // namespace doetune::workloads
