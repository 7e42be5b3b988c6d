// The workload `input-pipeline`: reader threads make batches from coded pictures and feed a
// training step. What holds the step up, and by how much?
#pragma once

#include <string>

#include "workloads/pipeline/feed.h"
#include "workloads/protocol/protocol.h"

namespace doetune::workloads {

/// Where the time of a measurement went, in seconds.
struct PipelineTimes {
  double elapsed = 0;
  double idle = 0;  // the step had no batch
  double step = 0;
  StageSeconds stages{};  // of all readers together
  bool augments_in_step = false;
};

/// A step that waits longer than this part of its time is held up by what feeds it.
inline constexpr double kIdle = 0.05;

/// "step"; or where the step is held up, the longest of "read", "decode" and "augment", "copy"
/// where there is none of them. Augmentation in the step that takes longer than the step proper is
/// "augment" too.
std::string bottleneck(const PipelineTimes& times);

const Workload& input_pipeline();

}  // namespace doetune::workloads
