#include "workloads/engines/onednn/space_to_depth.h"

#include <algorithm>
#include <cstddef>

#include "workloads/engines/onednn/winograd_kernels.h"

namespace doetune::workloads::onednn {

SpaceToDepth::SpaceToDepth(const Convolution& conv, const Shape& in, const Shape& out)
    : conv_(conv), image_(in), out_(out), blocked_(conv) {
  const auto blocks = [&](int pixels) { return (pixels + conv.stride - 1) / conv.stride; };
  blocked_.kernel = {blocks(conv.kernel.height), blocks(conv.kernel.width)};
  blocked_.stride = 1;
  blocked_.pad = {0, 0};
}

Shape SpaceToDepth::in() const {
  return {image_.channels * conv_.stride * conv_.stride, out_.height + blocked_.kernel.height - 1,
          out_.width + blocked_.kernel.width - 1};
}

std::vector<float> SpaceToDepth::weights(const float* plain) const {
  const int s = conv_.stride;
  const Extent kernel = blocked_.kernel;
  const int taps = kernel.height * kernel.width;
  std::vector<float> all(static_cast<std::size_t>(conv_.filters) * in().channels * taps);
  for (int filter = 0; filter < conv_.filters; ++filter)
    for (int c = 0; c < image_.channels; ++c)
      for (int y = 0; y < conv_.kernel.height; ++y)
        for (int x = 0; x < conv_.kernel.width; ++x) {
          const int channel = (y % s * s + x % s) * image_.channels + c;
          const int tap = y / s * kernel.width + x / s;
          all[(static_cast<std::size_t>(filter) * in().channels + channel) * taps + tap] = *plain++;
        }
  return all;
}

void SpaceToDepth::transform(const float* images, int count, float* to) const {
  const Shape blocked = in();
#pragma omp parallel for collapse(2)
  for (int image = 0; image < count; ++image)
    for (int row = 0; row < blocked.height; ++row)
      transform_row(images + image * image_.elements(), row, to + image * blocked.elements());
}

/// The pixels of a row of blocks, of which each line of a block is contiguous in NHWC.
void SpaceToDepth::transform_row(const float* image, int row, float* to) const {
  const int s = conv_.stride;
  const int channels = image_.channels;
  const Shape blocked = in();
  const std::ptrdiff_t plane = std::ptrdiff_t{blocked.height} * blocked.width * winograd::kLanes;
  std::vector<float> block(static_cast<std::size_t>(blocked.channels));
  for (int column = 0; column < blocked.width; ++column) {
    std::ranges::fill(block, 0.0F);
    const int left = column * s - conv_.pad.width;
    const int from = std::clamp(left, 0, image_.width);
    const int until = std::clamp(left + s, 0, image_.width);
    for (int i = 0; i < s; ++i) {
      const int y = row * s + i - conv_.pad.height;
      if (y < 0 || y >= image_.height || from >= until) continue;
      const float* pixels = image + (std::ptrdiff_t{y} * image_.width + from) * channels;
      std::copy_n(pixels, (until - from) * channels, &block[(i * s + from - left) * channels]);
    }
    float* pixel = to + (std::ptrdiff_t{row} * blocked.width + column) * winograd::kLanes;
    for (int first = 0; first < blocked.channels; first += winograd::kLanes)
      std::copy_n(&block[first], winograd::kLanes, pixel + first / winograd::kLanes * plane);
  }
}

}  // namespace doetune::workloads::onednn
