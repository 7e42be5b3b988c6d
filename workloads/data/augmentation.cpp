#include "workloads/data/augmentation.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "base/random.h"

namespace doetune::workloads {
namespace {

constexpr int kPad = 4;

int shift(std::uint64_t key, std::uint64_t index) {
  return static_cast<int>(random_below(key, index, 2 * kPad + 1)) - kPad;
}

}  // namespace

Augmentation augmentation_named(std::string_view name) {
  if (name == "none") return Augmentation::none;
  if (name == "crop") return Augmentation::crop;
  if (name == "crop-flip") return Augmentation::crop_flip;
  throw std::invalid_argument("there is no augmentation '" + std::string(name) + "'");
}

void augment(Augmentation augmentation, const Shape& shape, std::uint64_t key,
             std::span<const float> from, std::span<float> to) {
  if (augmentation == Augmentation::none) {
    std::ranges::copy(from, to.begin());
    return;
  }
  const int down = shift(key, 0);
  const int across = shift(key, 1);
  const bool mirrored = augmentation == Augmentation::crop_flip && random_below(key, 2, 2) == 1;
  for (int y = 0; y < shape.height; ++y) {
    for (int x = 0; x < shape.width; ++x) {
      const int from_y = y + down;
      const int from_x = (mirrored ? shape.width - 1 - x : x) + across;
      const bool inside =
          from_y >= 0 && from_y < shape.height && from_x >= 0 && from_x < shape.width;
      for (int c = 0; c < shape.channels; ++c)
        to[(y * shape.width + x) * shape.channels + c] =
            inside ? from[(from_y * shape.width + from_x) * shape.channels + c] : 0.0F;
    }
  }
}

}  // namespace doetune::workloads
