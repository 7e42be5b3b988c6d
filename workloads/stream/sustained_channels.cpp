#include "workloads/stream/sustained_channels.h"

#include <algorithm>

namespace doetune::workloads {

ChannelSearch find_sustained_channels(int min_channels, int max_channels,
                                      const std::function<std::optional<double>(int)>& measure) {
  constexpr int kResolution = 50;  // final bracket of 1 / 50
  ChannelSearch search;
  std::optional<int> too_many;
  const auto next = [&] {
    if (too_many) return search.channels + (*too_many - search.channels) / 2;
    return search.channels == 0 ? min_channels : std::min(max_channels, 2 * search.channels);
  };
  const auto done = [&] {
    if (!too_many) return search.channels == max_channels;
    return *too_many <= min_channels ||
           *too_many - search.channels <= std::max(1, search.channels / kResolution);
  };
  while (!done()) {
    const int channels = std::max(min_channels, next());
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
