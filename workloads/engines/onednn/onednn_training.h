// Training on the CPU, on oneDNN: primitives are created once for each number of images and kept.
#pragma once

#include <memory>
#include <span>

#include "workloads/engines/training.h"

namespace doetune::workloads {

/// As Engine::train.
std::unique_ptr<TrainableNetwork> make_onednn_trainable(const Network& network,
                                                        std::span<const float> parameters,
                                                        std::span<const float> statistics,
                                                        const TrainingOptions& options);

}  // namespace doetune::workloads
