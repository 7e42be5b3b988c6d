#include "workloads/video/ycbcr_image.h"

#include <algorithm>
#include <cmath>

namespace doetune::workloads {

YcbcrImage::YcbcrImage(int width, int height)
    : width_(width),
      height_(height),
      luma_(static_cast<std::size_t>(width) * height),
      blue_(luma_.size() / 4),
      red_(luma_.size() / 4) {}

YcbcrView YcbcrImage::view() const {
  return {width_, height_,    luma_.data(), blue_.data(), red_.data(),
          width_, width_ / 2, width_ / 2,   height_ / 2};
}

Resizer::Resizer(Extent size) : size_(size) {}

void Resizer::fit(const YcbcrView& image) {
  if (image.width == fitted_.width && image.height == fitted_.height &&
      image.chroma_width == fitted_.chroma_width && image.chroma_height == fitted_.chroma_height)
    return;
  fitted_ = image;
  luma_x_ = taps(image.width, size_.width);
  luma_y_ = taps(image.height, size_.height);
  chroma_x_ = taps(image.chroma_width, size_.width);
  chroma_y_ = taps(image.chroma_height, size_.height);
  luma_.resize(image.width);
  blue_.resize(image.chroma_width);
  red_.resize(image.chroma_width);
}

std::vector<Resizer::Tap> Resizer::taps(int from, int to) {
  std::vector<Tap> taps(to);
  const double step = static_cast<double>(from) / to;
  for (int i = 0; i < to; ++i) {
    const double at = std::clamp((i + 0.5) * step - 0.5, 0.0, from - 1.0);
    const int low = static_cast<int>(at);
    taps[i] = {low, std::min(low + 1, from - 1), static_cast<float>(at - low)};
  }
  return taps;
}

void Resizer::blend_rows(const std::uint8_t* plane, int stride, const Tap& tap,
                         std::vector<float>& row) {
  const std::uint8_t* low = plane + static_cast<std::ptrdiff_t>(stride) * tap.low;
  const std::uint8_t* high = plane + static_cast<std::ptrdiff_t>(stride) * tap.high;
  for (std::size_t x = 0; x < row.size(); ++x) {
    const auto value = static_cast<float>(low[x]);
    row[x] = value + tap.fraction * (static_cast<float>(high[x]) - value);
  }
}

void Resizer::operator()(const YcbcrView& image, std::span<float> rgb, int channels,
                         int first_channel) {
  fit(image);
  const auto sample = [](const std::vector<float>& row, const Tap& tap) {
    return row[tap.low] + tap.fraction * (row[tap.high] - row[tap.low]);
  };
  const auto unit = [](float value) { return std::clamp(value, 0.0F, 1.0F); };
  const float black = image.full_range ? 0.0F : 16.0F;
  const float luma_scale = 1.0F / (image.full_range ? 255.0F : 219.0F);
  const float chroma_scale = 1.0F / (image.full_range ? 255.0F : 224.0F);
  float* out = rgb.data() + first_channel;
  for (int y = 0; y < size_.height; ++y) {
    blend_rows(image.luma, image.luma_stride, luma_y_[y], luma_);
    blend_rows(image.blue, image.chroma_stride, chroma_y_[y], blue_);
    blend_rows(image.red, image.chroma_stride, chroma_y_[y], red_);
    for (int x = 0; x < size_.width; ++x, out += channels) {
      const float luma = luma_scale * (sample(luma_, luma_x_[x]) - black);
      const float blue = chroma_scale * (sample(blue_, chroma_x_[x]) - 128.0F);
      const float red = chroma_scale * (sample(red_, chroma_x_[x]) - 128.0F);
      out[0] = unit(luma + 1.402F * red);
      out[1] = unit(luma - 0.344136F * blue - 0.714136F * red);
      out[2] = unit(luma + 1.772F * blue);
    }
  }
}

}  // namespace doetune::workloads
