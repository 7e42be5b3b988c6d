#include "workloads/stream/stream_plan.h"

#include <cmath>

namespace doetune::workloads {

std::vector<Frame> frames_of(const StreamPlan& plan, std::int64_t k) {
  constexpr std::int64_t kStagger = 17;  // clip frames between one camera and the next
  std::vector<Frame> frames;
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
      frames.push_back({channel, static_cast<int>(sent % plan.clip_frames)});
    }
  }
  return frames;
}

std::span<const Frame> share_of(std::span<const Frame> frames, int executor, int executors) {
  const std::size_t begin = frames.size() * executor / executors;
  const std::size_t end = frames.size() * (executor + 1) / executors;
  return frames.subspan(begin, end - begin);
}

}  // namespace doetune::workloads
