// Motion JPEG, coded and decoded by FFmpeg's libavcodec (the only file that knows it is video.cpp).
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <stdexcept>
#include <vector>

#include "workloads/video/picture.h"

namespace doetune::workloads {

struct VideoError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Codes pictures of one size, one packet each. Throws VideoError.
class FrameEncoder {
 public:
  FrameEncoder(int width, int height);
  ~FrameEncoder();
  std::vector<std::byte> encode(const PictureView& picture);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Decodes packets on the calling thread, each by itself. Throws VideoError for a broken packet.
class FrameDecoder {
 public:
  FrameDecoder();
  ~FrameDecoder();
  /// The picture is valid until the next call.
  PictureView decode(std::span<const std::byte> packet);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace doetune::workloads
