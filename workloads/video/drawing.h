// Drawing on pictures: what was found, for people to see.
#pragma once

#include "workloads/video/picture.h"

namespace doetune::workloads {

/// A copy to draw on: full range, chroma at half size (the nearest sample), the last row or column
/// left out where a size is odd. At least 2 x 2 pixels.
Picture drawable(const PictureView& picture);

/// A red ring of the given radius in pixels, a tenth of it thick but at least 2; what lies outside
/// of the picture is left out.
void draw_ring(Picture& picture, double x, double y, double radius);

}  // namespace doetune::workloads
