// Video files of Motion JPEG, whose frames any number of processes can code for themselves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "workloads/video/video.h"

namespace doetune::workloads {

/// The container for a file name: .avi, .mkv, .mov or .mp4; empty for any other.
std::string container_of(const std::filesystem::path& file);

/// Puts the packets of FrameEncoder into a file, each a frame.
class VideoWriter {
 public:
  /// Makes the file, or empties it. Throws VideoError.
  VideoWriter(const std::filesystem::path& file, const std::string& container, int width,
              int height, double frames_per_second);
  ~VideoWriter();

  void add(std::span<const std::byte> packet);

  /// Without it the file is not whole. Throws VideoError, for a full disk too.
  void finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace doetune::workloads
