// Generated video files whose frames encode their number.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace doetune::tests {

struct MadeVideo {
  std::string codec = "mpeg4";  ///< one of libavcodec's own encoders
  int frames = 60;
  int between_keys = 12;  ///< distance between key frames
  int b_frames = 0;       ///< between reference frames, coded after the frame that follows them
  int frames_per_second = 25;
  int width = 96;
  int height = 64;
};

/// Frame i is uniformly grey_of(i); the file extension selects the container.
void make_video(const std::filesystem::path& file, const MadeVideo& video);

inline constexpr int grey_of(int frame) { return 30 + 3 * (frame % 64); }

/// The number 0..63 of the frame whose grey is nearest to this luma.
inline int frame_of(std::uint8_t luma) { return (luma - 30 + 1) / 3; }

}  // namespace doetune::tests
