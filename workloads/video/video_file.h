// Reading of video files in common containers and codecs, by FFmpeg's libavformat and libavcodec.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "workloads/video/decoded_image.h"
#include "workloads/video/video.h"

namespace doetune::workloads {

/// A video file's properties.
struct VideoInformation {
  int width = 0;
  int height = 0;
  double frames_per_second = 0;
  std::int64_t frames = 0;    ///< packets of the video stream
  std::int64_t expected = 0;  ///< by the header; equal to `frames` where it gives none
};

/// The frames of a file's first video stream, numbered in display order.
///
/// Opening reads the whole file once, for an index. No other file is read, whatever it refers to.
/// Errors are handled as by players: an undecodable frame is replaced by the previous one.
class VideoReader {
 public:
  /// Throws VideoError, with the reason, for a file that is not a video, or has no frame that can
  /// be decoded.
  explicit VideoReader(const std::filesystem::path& file);
  ~VideoReader();

  const VideoInformation& information() const;

  /// Frame 0 .. frames - 1. In ascending order each frame is decoded once. A jump forward decodes
  /// from the last key frame before the target, and so does a step back.
  DecodedImage frame(std::int64_t number);

  /// The number of frames requested so far that could not be decoded.
  std::int64_t undecodable() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace doetune::workloads
