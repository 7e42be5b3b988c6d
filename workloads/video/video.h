// Video, coded and decoded by FFmpeg's libavcodec (libav.h).
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

/// Motion JPEG codes each frame by itself; the others code most frames as changes to those before.
enum class VideoCodec { mjpeg, mpeg4, h264, vp9, av1 };
std::string_view name_of(VideoCodec codec);
/// Throws std::invalid_argument for an unknown name.
VideoCodec video_codec_named(std::string_view name);
bool each_frame_by_itself(VideoCodec codec);
/// Those that this libavcodec can both code and decode.
std::vector<VideoCodec> available_codecs();

/// Frames from one key frame to the next, at most, in coded video.
inline constexpr int kKeyFrameInterval = 30;

/// Codes images of one size, one packet each, in the order that they are shown. Only Motion JPEG
/// is full range; others bring full-range images to video range. Throws VideoError, bad_alloc.
class FrameEncoder {
 public:
  FrameEncoder(int width, int height, VideoCodec codec = VideoCodec::mjpeg);
  ~FrameEncoder();
  std::vector<std::byte> encode(const YcbcrView& image);
  /// Whether the last packet decodes without those before it.
  bool key_frame() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Decodes one video's packets, from a key frame on, each in its turn: on the calling thread, or on
/// a GPU, numbered among those that this process sees. Throws VideoError for a broken packet,
/// std::bad_alloc, and Infeasible where there is no such GPU or it does not decode this video.
class FrameDecoder {
 public:
  explicit FrameDecoder(VideoCodec codec = VideoCodec::mjpeg, std::optional<int> gpu = {});
  ~FrameDecoder();
  FrameDecoder(FrameDecoder&&) noexcept;
  /// The image is valid until the next call.
  YcbcrView decode(std::span<const std::byte> packet);
  /// Keeps the last image's memory for as long as the returned owner, or a copy of it, lives.
  std::shared_ptr<const void> hold() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace doetune::workloads
