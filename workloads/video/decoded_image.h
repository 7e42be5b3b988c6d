// An image as a decoder gives it.
#pragma once

#include <cstdint>
#include <memory>

#include "workloads/video/ycbcr_image.h"

namespace doetune::workloads {

/// A view and what holds its samples: copies share them.
struct DecodedImage {
  YcbcrView view;
  std::shared_ptr<const void> samples;
};

/// No image or frame may have more pixels, which keeps a broken header from taking the memory.
inline constexpr std::int64_t kMaxPixels = std::int64_t{1} << 27;

}  // namespace doetune::workloads
