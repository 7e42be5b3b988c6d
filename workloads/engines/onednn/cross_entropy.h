// Softmax cross-entropy, the loss of a classifier.
#pragma once

#include <cstdint>
#include <span>

#include "workloads/engines/training.h"

namespace doetune::workloads {

/// The mean over images of -log softmax(logits)[label] and, where `gradient` is not empty, its
/// gradient with respect to the logits, (softmax(logits) - one at the label) / images. Logits are
/// images x classes; the largest is subtracted first, so that no exponential overflows.
BatchScore softmax_cross_entropy(std::span<const float> logits,
                                 std::span<const std::int32_t> labels, std::span<float> gradient);

}  // namespace doetune::workloads
