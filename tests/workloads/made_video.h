// Video files whose frames tell their number, made for tests.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace doetune::tests {

struct MadeVideo {
  std::string codec = "mpeg4";  ///< an encoder of libavcodec's own
  int frames = 60;
  int between_keys = 12;  ///< frames from one key frame to the next
  int b_frames = 0;       ///< between others, coded after those that follow them
  int frames_per_second = 25;
  int width = 96;
  int height = 64;
};

/// Frame i is of one grey, grey_of(i); the container is that of the file's ending.
void make_video(const std::filesystem::path& file, const MadeVideo& video);

inline constexpr int grey_of(int frame) { return 30 + 3 * (frame % 64); }

/// The number 0..63 of the frame whose luma is nearest to this one.
inline int frame_of(std::uint8_t luma) { return (luma - 30 + 1) / 3; }

}  // namespace doetune::tests
