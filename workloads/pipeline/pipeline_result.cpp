#include "workloads/pipeline/pipeline_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>

#include "runner/measurement/batch_means.h"

namespace doetune::workloads {
namespace {

using Quantity = std::function<double(const FedStep&)>;

constexpr std::array<const char*, kFeedStages> kStageNames{"read", "decode", "augment", "copy"};

/// A response that is one sum over the steps over another.
struct Ratio {
  std::string name;
  Quantity above;
  Quantity below;
};

double all_stages(const FedStep& step) {
  return std::accumulate(step.stages.begin(), step.stages.end(), 0.0);
}

/// What readers alone did.
StageSeconds reader_stages(const FedStep& step, const PipelineContext& context) {
  StageSeconds stages = step.stages;
  if (context.augments_in_step) stages[index_of(FeedStage::augment)] = 0;
  return stages;
}

double reader_seconds(const FedStep& step, const PipelineContext& context) {
  const StageSeconds stages = reader_stages(step, context);
  return std::accumulate(stages.begin(), stages.end(), 0.0);
}

std::vector<Ratio> ratios(const PipelineContext& context) {
  const Quantity one = [](const FedStep&) { return 1.0; };
  const Quantity total = &FedStep::total;
  std::vector<Ratio> all{
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

std::vector<double> each(const std::vector<FedStep>& steps, const Quantity& quantity) {
  std::vector<double> values;
  std::ranges::transform(steps, std::back_inserter(values), quantity);
  return values;
}

double sum(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

/// 0 where nothing was done at all.
double quotient(double above, double below) { return below > 0 ? above / below : 0; }

FedStep sums_of(const std::vector<FedStep>& steps) {
  FedStep sums;
  for (const FedStep& step : steps) {
    sums.total += step.total;
    sums.idle += step.idle;
    for (std::size_t i = 0; i < kFeedStages; ++i) sums.stages[i] += step.stages[i];
  }
  return sums;
}

void add_notes(const std::vector<PipelineMeasurement>& measured, const PipelineContext& context,
               Result& result) {
  std::vector<FedStep> all;
  result.steady = true;
  for (const PipelineMeasurement& one : measured) {
    all.insert(all.end(), one.steps.begin(), one.steps.end());
    if (one.steady != true && result.steady != false) result.steady = one.steady;
    if (!one.unsteady.empty()) result.notes["steady"] = one.unsteady;
    if (one.stopped_by == measurement::StoppedBy::kTimeLimit)
      result.notes["time_limit"] = "measurement ended early to keep the time limit";
  }
  if (static_cast<int>(measured.size()) < context.repeats)
    result.notes["repeats"] = fmt::format("{} of {} measurements fitted into the time limit",
                                          measured.size(), context.repeats);
  result.notes["bottleneck"] = bottleneck(sums_of(all), context);
  result.notes["steps"] = all.size();
  result.window = {measured.front().window.first, measured.back().window.second};
  result.stopped_by = measurement::stopped_by_name(measured.back().stopped_by);
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
      {"images_per_second", "images/s", "images that went through the step"},
      {"idle_share", "1", "part of the time in which the step had no batch"},
      {"step_time", "s", "mean time of a step, without waiting for its batch"},
      {"readers_busy", "1", "part of the readers' time in which they made batches"},
      {"read_share", "1", "reading, of the time that making batches took"},
      {"decode_share", "1", "decoding and scaling, of the time that making batches took"},
      {"augment_share", "1", "augmentation, of the time that making batches took"},
      {"copy_share", "1", "copying decoded pictures, of the time that making batches took"},
  };
}

Result pipeline_result(const std::vector<PipelineMeasurement>& measured,
                       const PipelineContext& context) {
  Result result;
  for (const Ratio& ratio : ratios(context)) {
    std::vector<double> repeats, above, below;
    for (const PipelineMeasurement& one : measured) {
      const auto upper = each(one.steps, ratio.above), lower = each(one.steps, ratio.below);
      repeats.push_back(quotient(sum(upper), sum(lower)));
      above.insert(above.end(), upper.begin(), upper.end());
      below.insert(below.end(), lower.begin(), lower.end());
    }
    result.responses[ratio.name] = sum(repeats) / static_cast<double>(repeats.size());
    const auto interval = measurement::ratio_interval(above, below);
    const auto relative = interval ? interval->relative() : std::nullopt;
    if (relative) result.precision[ratio.name] = *relative;
    if (repeats.size() > 1) result.repeats[ratio.name] = std::move(repeats);
  }
  add_notes(measured, context, result);
  return result;
}

}  // namespace doetune::workloads
