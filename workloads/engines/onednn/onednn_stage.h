// A stage of a network under training on the CPU, on oneDNN.
#pragma once

#include <memory>
#include <span>

#include "workloads/engines/training.h"

namespace doetune::workloads {

/// As Engine::train_stage.
std::unique_ptr<TrainableStage> make_onednn_stage(const Network& stage,
                                                  std::span<const float> parameters,
                                                  std::span<const float> statistics,
                                                  const TrainingOptions& options, int slots);

}  // namespace doetune::workloads
