#include "workloads/video/drawing.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace doetune::workloads {
namespace {

using Levels = std::array<std::uint8_t, 256>;

/// Maps `black` .. `black + span` (with `centre` fixed) to 0 .. 255.
Levels levels(bool full_range, double from, double scale, double to) {
  Levels table{};
  for (int i = 0; i < 256; ++i)
    table[i] = static_cast<std::uint8_t>(
        full_range ? i : std::clamp(std::lround((i - from) * scale + to), 0L, 255L));
  return table;
}

void copy_chroma(const std::uint8_t* plane, const YcbcrView& from, const Levels& level, int y,
                 int height, int width, std::uint8_t* row) {
  const std::uint8_t* source =
      plane + static_cast<std::ptrdiff_t>(y * from.chroma_height / height) * from.chroma_stride;
  for (int x = 0; x < width; ++x) row[x] = level[source[x * from.chroma_width / width]];
}

}  // namespace

YcbcrImage drawable(const YcbcrView& from) {
  const int width = from.width / 2 * 2;
  const int height = from.height / 2 * 2;
  YcbcrImage image(width, height);
  const Levels luma = levels(from.full_range, 16, 255.0 / 219, 0);
  const Levels chroma = levels(from.full_range, 128, 255.0 / 224, 128);
  for (int y = 0; y < height; ++y) {
    const std::uint8_t* source = from.luma + static_cast<std::ptrdiff_t>(y) * from.luma_stride;
    std::uint8_t* row = image.luma_row(y);
    for (int x = 0; x < width; ++x) row[x] = luma[source[x]];
  }
  for (int y = 0; y < height / 2; ++y) {
    copy_chroma(from.blue, from, chroma, y, height / 2, width / 2, image.blue_row(y));
    copy_chroma(from.red, from, chroma, y, height / 2, width / 2, image.red_row(y));
  }
  return image;
}

void draw_ring(YcbcrImage& image, double x, double y, double radius) {
  constexpr std::uint8_t kLuma = 76, kBlue = 85, kRed = 255;  // red, by JFIF
  const YcbcrView size = image.view();
  const double half = std::max(radius / 20, 1.0);
  const double reach = radius + half;
  const int top = std::max(0, static_cast<int>(std::ceil(y - reach)));
  const int bottom = std::min(size.height - 1, static_cast<int>(std::floor(y + reach)));
  const int left = std::max(0, static_cast<int>(std::ceil(x - reach)));
  const int right = std::min(size.width - 1, static_cast<int>(std::floor(x + reach)));
  for (int row = top; row <= bottom; ++row)
    for (int column = left; column <= right; ++column) {
      if (std::abs(std::hypot(column - x, row - y) - radius) > half) continue;
      image.luma_row(row)[column] = kLuma;
      image.blue_row(row / 2)[column / 2] = kBlue;
      image.red_row(row / 2)[column / 2] = kRed;
    }
}

}  // namespace doetune::workloads
