#include "workloads/pipeline/pipeline_result.h"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>

namespace doetune::workloads {
namespace {

using StepQuantity = std::function<double(const FedStep&)>;

constexpr std::array<const char*, kFeedStages> kStageNames{"read", "decode", "augment", "copy"};

double all_stages(const FedStep& step) {
  return std::accumulate(step.stages.begin(), step.stages.end(), 0.0);
}

/// The stage times of the readers, without those of the step.
StageSeconds reader_stages(const FedStep& step, const PipelineContext& context) {
  StageSeconds stages = step.stages;
  if (context.augments_in_step) stages[index_of(FeedStage::augment)] = 0;
  return stages;
}

double reader_seconds(const FedStep& step, const PipelineContext& context) {
  const StageSeconds stages = reader_stages(step, context);
  return std::accumulate(stages.begin(), stages.end(), 0.0);
}

std::vector<Ratio<FedStep>> ratios(const PipelineContext& context) {
  const StepQuantity one = [](const FedStep&) { return 1.0; };
  const StepQuantity total = &FedStep::total;
  std::vector<Ratio<FedStep>> all{
      {"images_per_second", [&](const FedStep&) { return context.batch; }, total},
      {"idle_share", &FedStep::idle, total},
      {"step_time", [](const FedStep& step) { return step.total - step.idle; }, one},
      {"readers_busy", [&](const FedStep& step) { return reader_seconds(step, context); },
       [&](const FedStep& step) { return step.total * std::max(1, context.readers); }}};
  for (std::size_t i = 0; i < kFeedStages; ++i)
    all.push_back({std::string(kStageNames[i]) + "_share",
                   [i](const FedStep& step) { return step.stages[i]; }, all_stages});
  return all;
}

FedStep sums_of(const std::vector<FedStep>& steps) {
  FedStep sums;
  for (const FedStep& step : steps) {
    sums.total += step.total;
    sums.idle += step.idle;
    for (std::size_t i = 0; i < kFeedStages; ++i) sums.stages[i] += step.stages[i];
  }
  return sums;
}

}  // namespace

std::string bottleneck(const FedStep& sums, const PipelineContext& context) {
  if (sums.idle < kIdle * sums.total) {
    const double augmenting = sums.stages[index_of(FeedStage::augment)];
    return context.augments_in_step && augmenting > (sums.total - sums.idle) / 2 ? "augment"
                                                                                 : "step";
  }
  const double working = reader_seconds(sums, context) / sums.total;
  if (context.depth < context.readers && working > kBusy * context.depth) return "prefetch_depth";
  const StageSeconds stages = reader_stages(sums, context);
  return kStageNames[static_cast<std::size_t>(std::ranges::max_element(stages) - stages.begin())];
}

std::vector<Response> pipeline_responses() {
  return {
      {"images_per_second", "images/s", "images processed by the step"},
      {"idle_share", "1", "fraction of time that the step waits for a batch"},
      {"step_time", "s", "mean time of a step without waiting for its batch"},
      {"readers_busy", "1", "fraction of the readers' time spent preparing batches"},
      {"read_share", "1", "reading, as a fraction of the time to prepare batches"},
      {"decode_share", "1", "decoding and scaling, as a fraction of the time to prepare batches"},
      {"augment_share", "1", "augmentation, as a fraction of the time to prepare batches"},
      {"copy_share", "1", "copying decoded images, as a fraction of the time to prepare batches"},
  };
}

Result pipeline_result(const std::vector<PipelineMeasurement>& measured,
                       const PipelineContext& context) {
  Result result = ratio_result(measured, ratios(context), context.repeats);
  const std::vector<FedStep> all = joined(measured);
  result.notes["bottleneck"] = bottleneck(sums_of(all), context);
  result.notes["steps"] = all.size();
  return result;
}

}  // namespace doetune::workloads
