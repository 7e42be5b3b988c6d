// A convolution with a stride as one without, over blocks of pixels ("space to depth"): an image's
// few channels become many, and a large kernel a small one, for which there are fast algorithms.
#pragma once

#include <vector>

#include "workloads/networks/network.h"
#include "workloads/shape.h"

namespace doetune::workloads::onednn {

/// With stride s, C channels and padding p, pixel (r, q) of the blocked image has C s^2 channels:
///   channel (i s + j) C + c of (r, q) = channel c of pixel (r s + i - p, q s + j - p),
/// zero outside of the image. A kernel of k pixels becomes one of ceil(k / s), with zeros at
/// positions beyond k, and the convolution has stride 1 and no padding. Outputs are the same but
/// for rounding.
/// AlexNet's 11 x 11 kernel over 3 channels becomes 3 x 3 over 48.
class SpaceToDepth {
 public:
  SpaceToDepth(const Convolution& conv, const Shape& in, const Shape& out);

  /// The equivalent convolution and the shape of its input.
  const Convolution& convolution() const { return blocked_; }
  Shape in() const;

  /// The equivalent's weights from the convolution's; both are filters x channels x kernel.
  std::vector<float> weights(const float* plain) const;

  /// Images in NHWC to images in blocks of 8 channels (nChw8c). in().channels must be a multiple
  /// of 8.
  void transform(const float* images, int count, float* to) const;

 private:
  void transform_row(const float* image, int row, float* to) const;

  Convolution conv_;
  Shape image_;
  Shape out_;
  Convolution blocked_;
};

}  // namespace doetune::workloads::onednn
