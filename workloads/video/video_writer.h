// Writing of Motion JPEG video files, whose frames separate processes can code independently.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "workloads/video/video.h"

namespace doetune::workloads {

/// The container for a file extension: .avi, .mkv, .mov or .mp4; empty for any other.
std::string container_of(const std::filesystem::path& file);

/// Writes packets of FrameEncoder to a file, one per frame.
class VideoWriter {
 public:
  /// Creates or truncates the file. Throws VideoError.
  VideoWriter(const std::filesystem::path& file, const std::string& container, int width,
              int height, double frames_per_second);
  ~VideoWriter();

  void add(std::span<const std::byte> packet);

  /// Completes the file, which is invalid without this call. Throws VideoError, also for a full
  /// disk.
  void finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace doetune::workloads
