// The assignment of camera frames to micro-batches and executors.
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
  int clip_frames = 1;     // cameras repeat the clip, each from a different start
};

struct StreamFrame {
  int channel;
  int clip_frame;
  std::int64_t source_frame;  // index of the camera's frame; clip_frame is its remainder
  bool operator==(const StreamFrame&) const = default;
};

/// The frames of micro-batch `k`, which covers the time from k to k + 1 intervals, channel by
/// channel. Channel c samples its camera at times ((c + 1/2) / channels + j) / decode_rate, j = 0,
/// 1, ..., so that the samples of the channels are spread evenly in time; a sample is the latest
/// frame that the camera sent.
std::vector<StreamFrame> frames_of(const StreamPlan& plan, std::int64_t k);

/// How frames are divided: where each is coded independently, any executor may take any image; else
/// a camera's frames must pass one decoder in order, so executors divide the cameras.
enum class ShareBy { image, channel };

/// The share of executor e. By image: contiguous, sizes differing by at most one. By channel: all
/// frames of channels e C / E .. (e + 1) C / E, the first of each channel before the second of any,
/// so that several decoders can work in parallel.
std::vector<StreamFrame> share_of(const StreamPlan& plan, std::span<const StreamFrame> frames,
                                  ShareBy by, int executor, int executors);

}  // namespace doetune::workloads
