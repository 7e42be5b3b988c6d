// Video files of the usual containers and codecs, read by FFmpeg's libavformat and libavcodec.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "workloads/video/decoded_image.h"
#include "workloads/video/video.h"

namespace doetune::workloads {

/// What a video file says and holds.
struct VideoInformation {
  int width = 0;
  int height = 0;
  double frames_per_second = 0;
  std::int64_t frames = 0;    ///< that are there: packets of the video stream
  std::int64_t expected = 0;  ///< that its header tells of; as many as are there where it is silent
};

/// The frames of a file's first video stream, by number in the order in which they are shown.
///
/// Opening reads the whole file once, for an index. Only this file is read, whatever it refers to.
/// The decoder takes errors as players do: a frame that cannot be decoded shows the one before it.
class VideoReader {
 public:
  /// Throws VideoError, with the reason, for a file that is no video, has no frames, or none that
  /// can be decoded.
  explicit VideoReader(const std::filesystem::path& file);
  ~VideoReader();

  const VideoInformation& information() const;

  /// Frame 0 .. frames - 1. In rising order each frame is decoded once. A jump ahead decodes from
  /// the last key frame before it, and so does a step back.
  DecodedImage frame(std::int64_t number);

  /// How many of the frames asked for could not be decoded.
  std::int64_t undecodable() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace doetune::workloads
