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

struct StreamFrame {
  int channel;
  int clip_frame;
  std::int64_t source_frame;  // the camera's count, of which clip_frame is the rest
  bool operator==(const StreamFrame&) const = default;
};

/// The frames of micro-batch `k`, which covers the time from k to k + 1 intervals, channel by
/// channel. Channel c takes its frames at times ((c + 1/2) / channels + j) / decode_rate, j = 0, 1,
/// ..., so the channels' frames are spread evenly in time; at each it shows the latest frame that
/// its camera sent.
std::vector<StreamFrame> frames_of(const StreamPlan& plan, std::int64_t k);

/// Who decodes what: where each frame is coded by itself any executor may take any image, else a
/// camera's frames must pass one decoder in their order, so that executors share out the cameras.
enum class ShareBy { image, channel };

/// Executor e's part. By image: contiguous, the sizes differ by one at most. By channel: all frames
/// of channels e C / E .. (e + 1) C / E, the first of each channel before the second of any, so
/// that several decoders find work side by side.
std::vector<StreamFrame> share_of(const StreamPlan& plan, std::span<const StreamFrame> frames,
                                  ShareBy by, int executor, int executors);

}  // namespace doetune::workloads
