// YCbCr images, and their conversion to a network's input.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "workloads/shape.h"

namespace doetune::workloads {

/// An image as planes of YCbCr (BT.601).
struct YcbcrView {
  int width = 0;
  int height = 0;
  const std::uint8_t* luma = nullptr;
  const std::uint8_t* blue = nullptr;  // Cb
  const std::uint8_t* red = nullptr;   // Cr
  int luma_stride = 0;                 // bytes from row to row
  int chroma_stride = 0;
  int chroma_width = 0;  // samples in a row of a chroma plane
  int chroma_height = 0;
  bool full_range = true;  // 0..255, as JPEG; else luma 16..235 and chroma 16..240, as video
};

/// An image that owns its planes: full range, even sizes, chroma at half resolution in both
/// directions.
class YcbcrImage {
 public:
  YcbcrImage(int width, int height);

  std::uint8_t* luma_row(int y) { return &luma_[static_cast<std::size_t>(y) * width_]; }
  std::uint8_t* blue_row(int y) { return &blue_[static_cast<std::size_t>(y) * (width_ / 2)]; }
  std::uint8_t* red_row(int y) { return &red_[static_cast<std::size_t>(y) * (width_ / 2)]; }
  YcbcrView view() const;

 private:
  int width_, height_;
  std::vector<std::uint8_t> luma_, blue_, red_;
};

/// Scales images to RGB in 0..1 (height x width x channels), bilinearly between the four nearest
/// samples of each plane (pixel centres at half-integers, edges repeated). Holds tables and row
/// buffers for the last image size, so each thread needs its own object.
class Resizer {
 public:
  explicit Resizer(Extent size);
  /// Writes channels first_channel .. first_channel + 2 of pixels with `channels` channels.
  void operator()(const YcbcrView& image, std::span<float> rgb, int channels = 3,
                  int first_channel = 0);

 private:
  struct Tap {
    int low, high;   // the two nearest samples
    float fraction;  // weight of `high`
  };
  static std::vector<Tap> taps(int from, int to);
  void fit(const YcbcrView& image);
  static void blend_rows(const std::uint8_t* plane, int stride, const Tap& tap,
                         std::vector<float>& row);

  Extent size_;
  YcbcrView fitted_;
  std::vector<Tap> luma_x_, luma_y_, chroma_x_, chroma_y_;
  std::vector<float> luma_, blue_, red_;
};

}  // namespace doetune::workloads
