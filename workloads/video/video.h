// Coding and decoding of video by FFmpeg's libavcodec (libav.h).
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "workloads/video/ycbcr_image.h"

namespace doetune::workloads {

struct VideoError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Motion JPEG codes each frame independently; the others code most frames as differences from
/// earlier ones.
enum class VideoCodec { mjpeg, mpeg4, h264, vp9, av1 };
std::string_view name_of(VideoCodec codec);
/// Throws std::invalid_argument for an unknown name.
VideoCodec video_codec_named(std::string_view name);
bool each_frame_by_itself(VideoCodec codec);
/// The codecs that this libavcodec can both code and decode.
std::vector<VideoCodec> available_codecs();

/// The maximum distance between key frames in coded video.
inline constexpr int kKeyFrameInterval = 30;

/// Codes images of one size, one packet each, in display order. Only Motion JPEG is full range; for
/// the others full-range images are converted to video range. Throws VideoError, bad_alloc.
class FrameEncoder {
 public:
  FrameEncoder(int width, int height, VideoCodec codec = VideoCodec::mjpeg);
  ~FrameEncoder();
  std::vector<std::byte> encode(const YcbcrView& image);
  /// Whether the last packet can be decoded without earlier ones.
  bool key_frame() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Decodes one video's packets in order, from a key frame on: on the calling thread, or on a GPU,
/// numbered among those visible to this process. Throws VideoError for a damaged packet,
/// std::bad_alloc, and Infeasible where there is no such GPU or it does not support this video.
class FrameDecoder {
 public:
  explicit FrameDecoder(VideoCodec codec = VideoCodec::mjpeg, std::optional<int> gpu = {});
  ~FrameDecoder();
  FrameDecoder(FrameDecoder&&) noexcept;
  /// The image is valid until the next call.
  YcbcrView decode(std::span<const std::byte> packet);
  /// Keeps the last image's memory for the lifetime of the returned owner and its copies.
  std::shared_ptr<const void> hold() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace doetune::workloads
