// The position of an object from its heat map.
#pragma once

#include <optional>
#include <span>

#include "workloads/shape.h"

namespace doetune::workloads {

/// A spot of a heat map: its centre in units of the image (0..1), and its pixels.
struct Spot {
  double x = 0;
  double y = 0;
  int pixels = 0;
};

/// Grey levels of at least this are hot. Source: Huang et al. (2019), TrackNet, section 3.
inline constexpr float kHot = 128;

/// The largest connected component of hot pixels (4-neighbourhood), the first of ties; empty where
/// no pixel is hot. `map` holds one grey level 0..255 per pixel, row by row.
std::optional<Spot> largest_spot(std::span<const float> map, const Shape& shape);

}  // namespace doetune::workloads
