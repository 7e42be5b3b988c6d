// A synthetic street scene: the content of the generated video.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/video/ycbcr_image.h"

namespace doetune::workloads {

/// Coloured boxes and discs of various sizes that move across a shaded background, with sensor
/// noise. Frame i depends on (seed, i) only.
class Scene {
 public:
  Scene(int width, int height, std::uint64_t seed);
  void draw(int frame, YcbcrImage& image) const;

 private:
  struct Thing {
    float x, y, speed_x, speed_y, half_width, half_height;  // pixels, pixels per frame
    bool disc;
    std::uint8_t luma, blue, red;
  };
  void draw_background(YcbcrImage& image) const;
  void draw_thing(const Thing& thing, int frame, YcbcrImage& image) const;
  void add_noise(int frame, YcbcrImage& image) const;

  int width_, height_;
  std::uint64_t seed_;
  std::vector<Thing> things_;
};

}  // namespace doetune::workloads
