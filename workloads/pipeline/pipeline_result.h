// What feeding a step was worth, as responses.
#pragma once

#include <string>
#include <vector>

#include "workloads/pipeline/feed.h"
#include "workloads/protocol/protocol.h"
#include "workloads/timing/measured.h"

namespace doetune::workloads {

/// One step, in seconds.
struct FedStep {
  double total = 0;       // from the end of the step before to its own
  double idle = 0;        // of it, in which the step had no batch
  StageSeconds stages{};  // of all readers meanwhile, and of the step where that augments
};

using PipelineMeasurement = Measured<FedStep>;

struct PipelineContext {
  int batch = 1;
  int readers = 1;
  int depth = 2;  // batches ahead
  bool augments_in_step = false;
  int repeats = 1;  // that were wanted
};

/// A step that waits longer than this part of its time is held up by what feeds it.
inline constexpr double kIdle = 0.05;
/// So many of the batches that may be ahead are under way where there should be more of them.
inline constexpr double kBusy = 0.8;

/// What holds the step up, of sums over steps: "step" where it hardly waits, or "augment" where
/// augmentation takes most of the step's time; else "prefetch_depth" where there are more readers
/// than batches ahead, and as many work as may; else the readers' longest stage.
std::string bottleneck(const FedStep& sums, const PipelineContext& context);

std::vector<Response> pipeline_responses();

/// Of at least one measurement, whose steadiness is that of the steps' total.
Result pipeline_result(const std::vector<PipelineMeasurement>& measured,
                       const PipelineContext& context);

}  // namespace doetune::workloads
