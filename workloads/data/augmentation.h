// Changes to an image that leave its class as it is.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "workloads/shape.h"

namespace doetune::workloads {

/// crop: pads 4 pixels of zeros on all sides and cuts out the old size at a random place;
/// crop_flip: also mirrors every other image, left to right. Source: He et al. (2015), section
/// 4.2. Mirrored gratings are other gratings: generated images are not for crop_flip.
enum class Augmentation { none, crop, crop_flip };

/// By "none", "crop" or "crop-flip". Throws std::invalid_argument.
Augmentation augmentation_named(std::string_view name);

/// Writes `from` (height x width x channels), changed by what the key draws, to `to`.
void augment(Augmentation augmentation, const Shape& shape, std::uint64_t key,
             std::span<const float> from, std::span<float> to);

}  // namespace doetune::workloads
