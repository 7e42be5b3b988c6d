// From a heat map to the thing that it shows.
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

/// Grey levels from this one on are hot. Source: Huang et al. (2019), TrackNet, section 3.
inline constexpr float kHot = 128;

/// The largest set of hot pixels that hang together over edges, the first of equals; empty where no
/// pixel is hot. `map` holds one grey level 0..255 a pixel, row by row.
std::optional<Spot> largest_spot(std::span<const float> map, const Shape& shape);

}  // namespace doetune::workloads
