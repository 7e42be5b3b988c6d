#include "workloads/networks/heat_map.h"

#include <cstdint>
#include <vector>

namespace doetune::workloads {
namespace {

/// Collects the connected component of a hot pixel, and marks its pixels as visited.
class SpotFinder {
 public:
  SpotFinder(std::span<const float> map, const Shape& shape)
      : map_(map), width_(shape.width), height_(shape.height), seen_(map.size()) {}

  Spot spot_at(int pixel) {
    Spot spot;
    visit(pixel);
    while (!open_.empty()) {
      const int at = open_.back();
      open_.pop_back();
      const int x = at % width_;
      const int y = at / width_;
      spot.x += x;
      spot.y += y;
      ++spot.pixels;
      if (x > 0) visit(at - 1);
      if (x + 1 < width_) visit(at + 1);
      if (y > 0) visit(at - width_);
      if (y + 1 < height_) visit(at + width_);
    }
    if (spot.pixels == 0) return spot;
    return {(spot.x / spot.pixels + 0.5) / width_, (spot.y / spot.pixels + 0.5) / height_,
            spot.pixels};
  }

 private:
  void visit(int pixel) {
    if (seen_[pixel] != 0 || map_[pixel] < kHot) return;
    seen_[pixel] = 1;
    open_.push_back(pixel);
  }

  std::span<const float> map_;
  int width_, height_;
  std::vector<std::uint8_t> seen_;
  std::vector<int> open_;
};

}  // namespace

std::optional<Spot> largest_spot(std::span<const float> map, const Shape& shape) {
  SpotFinder finder(map, shape);
  Spot largest;
  for (int pixel = 0; pixel < shape.width * shape.height; ++pixel)
    if (const Spot spot = finder.spot_at(pixel); spot.pixels > largest.pixels) largest = spot;
  return largest.pixels > 0 ? std::optional(largest) : std::nullopt;
}

}  // namespace doetune::workloads
