// Pictures as video carries them, and their way into a network's input.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace doetune::workloads {

/// A picture in JPEG's colours (full-range YCbCr of BT.601), both chroma planes at half size.
struct PictureView {
  int width = 0;   // even
  int height = 0;  // even
  const std::uint8_t* luma = nullptr;
  const std::uint8_t* blue = nullptr;  // Cb
  const std::uint8_t* red = nullptr;   // Cr
  int luma_stride = 0;                 // bytes from row to row
  int chroma_stride = 0;
};

/// A picture that owns its planes.
class Picture {
 public:
  Picture(int width, int height);

  std::uint8_t* luma_row(int y) { return &luma_[static_cast<std::size_t>(y) * width_]; }
  std::uint8_t* blue_row(int y) { return &blue_[static_cast<std::size_t>(y) * (width_ / 2)]; }
  std::uint8_t* red_row(int y) { return &red_[static_cast<std::size_t>(y) * (width_ / 2)]; }
  PictureView view() const;

 private:
  int width_, height_;
  std::vector<std::uint8_t> luma_, blue_, red_;
};

/// Scales pictures of one size to size x size RGB in 0..1 (height x width x channels), bilinearly
/// between the four nearest samples of each plane (pixel centres at half-integers, edges repeated).
/// Keeps its tables and row buffers, so one object serves one thread.
class Resizer {
 public:
  Resizer(int width, int height, int size);
  void operator()(const PictureView& picture, std::span<float> rgb);

 private:
  struct Tap {
    int low, high;   // the two nearest samples
    float fraction;  // weight of `high`
  };
  static std::vector<Tap> taps(int from, int to);
  static void blend_rows(const std::uint8_t* plane, int stride, const Tap& tap,
                         std::vector<float>& row);

  int size_;
  std::vector<Tap> luma_x_, luma_y_, chroma_x_, chroma_y_;
  std::vector<float> luma_, blue_, red_;
};

}  // namespace doetune::workloads
