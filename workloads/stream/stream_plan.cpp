#include "workloads/stream/stream_plan.h"

#include <algorithm>
#include <cmath>

namespace doetune::workloads {

std::vector<StreamFrame> frames_of(const StreamPlan& plan, std::int64_t k) {
  constexpr std::int64_t kStagger = 17;  // offset in clip frames between successive cameras
  std::vector<StreamFrame> frames;
  const double per_interval = plan.decode_rate * plan.interval;
  for (int channel = 0; channel < plan.channels; ++channel) {
    const double phase = (channel + 0.5) / plan.channels;
    const auto first =
        static_cast<std::int64_t>(std::ceil(static_cast<double>(k) * per_interval - phase));
    const auto end =
        static_cast<std::int64_t>(std::ceil(static_cast<double>(k + 1) * per_interval - phase));
    for (std::int64_t j = first; j < end; ++j) {
      const double time = (phase + static_cast<double>(j)) / plan.decode_rate;
      const auto sent = static_cast<std::int64_t>(time * plan.source_fps) + kStagger * channel;
      frames.push_back({channel, static_cast<int>(sent % plan.clip_frames), sent});
    }
  }
  return frames;
}

std::vector<StreamFrame> share_of(const StreamPlan& plan, std::span<const StreamFrame> frames,
                                  ShareBy by, int executor, int executors) {
  const auto part = [&](std::int64_t of, int e) { return of * e / executors; };
  if (by == ShareBy::image) {
    const auto size = static_cast<std::int64_t>(frames.size());
    return {frames.begin() + part(size, executor), frames.begin() + part(size, executor + 1)};
  }
  struct Turn {
    int turn;
    StreamFrame frame;
  };
  std::vector<Turn> turns;
  for (const StreamFrame& frame : frames) {
    if (frame.channel < part(plan.channels, executor) ||
        frame.channel >= part(plan.channels, executor + 1))
      continue;
    const bool next = !turns.empty() && turns.back().frame.channel == frame.channel;
    turns.push_back({next ? turns.back().turn + 1 : 0, frame});
  }
  std::ranges::stable_sort(turns, {}, &Turn::turn);
  std::vector<StreamFrame> share;
  for (const Turn& turn : turns) share.push_back(turn.frame);
  return share;
}

}  // namespace doetune::workloads
