// Drawing of results into images.
#pragma once

#include "workloads/video/ycbcr_image.h"

namespace doetune::workloads {

/// A copy to draw on: full range, chroma at half size (nearest sample), without the last row or
/// column where a size is odd. At least 2 x 2 pixels.
YcbcrImage drawable(const YcbcrView& image);

/// A red ring of the given radius in pixels; its thickness is a tenth of that but at least 2.
/// Clipped to the image.
void draw_ring(YcbcrImage& image, double x, double y, double radius);

}  // namespace doetune::workloads
