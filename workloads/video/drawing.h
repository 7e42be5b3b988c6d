// Drawing on images: what was found, for people to see.
#pragma once

#include "workloads/video/ycbcr_image.h"

namespace doetune::workloads {

/// A copy to draw on: full range, chroma at half size (the nearest sample), the last row or column
/// left out where a size is odd. At least 2 x 2 pixels.
YcbcrImage drawable(const YcbcrView& image);

/// A red ring of the given radius in pixels, a tenth of it thick but at least 2; what lies outside
/// of the image is left out.
void draw_ring(YcbcrImage& image, double x, double y, double radius);

}  // namespace doetune::workloads
