// Which frames of which camera belong to which micro-batch, and who gets them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace doetune::workloads {

struct StreamPlan {
  int channels = 1;        // cameras
  double decode_rate = 1;  // frames decoded per second and channel
  double interval = 1;     // seconds of video in a micro-batch
  double source_fps = 30;  // frames per second that a camera sends
  int clip_frames = 1;     // every camera repeats the clip, each from a place of its own
};

struct Frame {
  int channel;
  int clip_frame;
  bool operator==(const Frame&) const = default;
};

/// The frames of micro-batch `k`, which covers the time from k to k + 1 intervals, channel by
/// channel. Channel c takes its frames at times ((c + 1/2) / channels + j) / decode_rate, j = 0, 1,
/// ..., so the channels' frames are spread evenly in time; at each it shows the latest frame that
/// its camera sent.
std::vector<Frame> frames_of(const StreamPlan& plan, std::int64_t k);

/// Executor e's part: contiguous, the sizes differ by one at most.
std::span<const Frame> share_of(std::span<const Frame> frames, int executor, int executors);

}  // namespace doetune::workloads
