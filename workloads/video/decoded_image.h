// A decoded image with shared ownership of its samples.
#pragma once

#include <cstdint>
#include <memory>

#include "workloads/video/ycbcr_image.h"

namespace doetune::workloads {

/// A view and the owner of its samples, which copies share.
struct DecodedImage {
  YcbcrView view;
  std::shared_ptr<const void> samples;
};

/// The maximum number of pixels of an image or frame, which bounds the memory that a damaged header
/// can claim.
inline constexpr std::int64_t kMaxPixels = std::int64_t{1} << 27;

}  // namespace doetune::workloads
