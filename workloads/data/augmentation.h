// Data augmentation: changes to an image that preserve its class.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "workloads/shape.h"

namespace doetune::workloads {

/// crop: pads by 4 pixels of zeros on all sides and crops the original size at a random position;
/// crop_flip: also mirrors half of the images, left to right. Source: He et al. (2015), section
/// 4.2. crop_flip does not suit generated images: a mirrored grating is a different grating.
enum class Augmentation { none, crop, crop_flip };

/// By "none", "crop" or "crop-flip". Throws std::invalid_argument.
Augmentation augmentation_named(std::string_view name);

/// Writes `from` (height x width x channels) to `to`, augmented at random by the key.
void augment(Augmentation augmentation, const Shape& shape, std::uint64_t key,
             std::span<const float> from, std::span<float> to);

}  // namespace doetune::workloads
