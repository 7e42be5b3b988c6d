// The responses of input-pipeline from its measurements.
#pragma once

#include <string>
#include <vector>

#include "workloads/pipeline/feed.h"
#include "workloads/protocol/protocol.h"
#include "workloads/timing/measured.h"

namespace doetune::workloads {

/// One step, in seconds.
struct FedStep {
  double total = 0;       // from the end of the previous step to the end of this one
  double idle = 0;        // the part of it without a batch
  StageSeconds stages{};  // of all readers meanwhile, and of the step where it augments
};

using PipelineMeasurement = Measured<FedStep>;

struct PipelineContext {
  int batch = 1;
  int readers = 1;
  int depth = 2;  // batches prefetched
  bool augments_in_step = false;
  int repeats = 1;  // wanted
};

/// A step that waits for more than this fraction of its time is limited by its input.
inline constexpr double kIdle = 0.05;
/// Readers busy with more than this fraction of the prefetch depth are limited by it.
inline constexpr double kBusy = 0.8;

/// What limits the step, from sums over steps: "step" where it hardly waits, or "augment" where
/// augmentation takes most of the step's time; else "prefetch_depth" where there are more readers
/// than prefetched batches and nearly that many are at work; else the readers' longest stage.
std::string bottleneck(const FedStep& sums, const PipelineContext& context);

std::vector<Response> pipeline_responses();

/// From at least one measurement; the steadiness is that of the steps' total time.
Result pipeline_result(const std::vector<PipelineMeasurement>& measured,
                       const PipelineContext& context);

}  // namespace doetune::workloads
