#include "workloads/stream/stream_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "runner/measurement/batch_means.h"
#include "workloads/timing/measured.h"

namespace doetune::workloads {
namespace {

using Batches = std::vector<MicroBatch>;
using BatchQuantity = double (*)(const MicroBatch&);

double one(const MicroBatch&) { return 1; }
double images(const MicroBatch& batch) { return static_cast<double>(batch.work.images); }
double processing_s(const MicroBatch& batch) { return batch.processing_s(); }
double delay_s(const MicroBatch& batch) { return batch.delay_s(); }
double detections(const MicroBatch& batch) { return static_cast<double>(batch.work.detections); }
double decode_s(const MicroBatch& batch) { return batch.work.decode_s; }
double stages_s(const MicroBatch& batch) { return batch.work.stages_s(); }
double elapsed_s(const MicroBatch& batch) { return batch.work.elapsed_s; }
double dropped(const MicroBatch& batch) { return static_cast<double>(batch.dropped); }
double offered(const MicroBatch& batch) { return dropped(batch) + 1; }

/// A response that is a ratio of two sums over the micro-batches.
struct BatchRatio {
  const char* name;
  BatchQuantity above;
  BatchQuantity below;
};

constexpr std::array<BatchRatio, 7> kRatios{{{"throughput", images, processing_s},
                                             {"processing_time", processing_s, one},
                                             {"scheduling_delay", delay_s, one},
                                             {"dropped_share", dropped, offered},
                                             {"decode_share", decode_s, stages_s},
                                             {"pipeline_overlap", stages_s, elapsed_s},
                                             {"detections_per_image", detections, images}}};

const std::vector<std::pair<std::string, double>>& percentiles() {
  static const std::vector<std::pair<std::string, double>> all{{"processing_time_p50", 0.5},
                                                               {"processing_time_p99", 0.99}};
  return all;
}

std::vector<double> each(const Batches& batches, BatchQuantity quantity) {
  std::vector<double> values;
  for (const MicroBatch& batch : batches) values.push_back(quantity(batch));
  return values;
}

double batch_sum(const Batches& batches, BatchQuantity quantity) {
  return std::transform_reduce(batches.begin(), batches.end(), 0.0, std::plus<>(), quantity);
}

double batch_mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

Batches joined(const std::vector<StreamMeasurement>& measured) {
  Batches all;
  for (const StreamMeasurement& one_of : measured)
    all.insert(all.end(), one_of.batches.begin(), one_of.batches.end());
  return all;
}

void add_ratios(const std::vector<StreamMeasurement>& measured, const Batches& all,
                Result& result) {
  for (const BatchRatio& ratio : kRatios) {
    for (const StreamMeasurement& one_of : measured)
      result.repeats[ratio.name].push_back(batch_sum(one_of.batches, ratio.above) /
                                           batch_sum(one_of.batches, ratio.below));
    const auto interval =
        measurement::ratio_interval(each(all, ratio.above), each(all, ratio.below));
    const auto relative = interval ? interval->relative() : std::nullopt;
    if (relative) result.precision[ratio.name] = *relative;
  }
}

void add_percentiles(const std::vector<StreamMeasurement>& measured, Result& result) {
  std::vector<std::vector<double>> times;
  for (const StreamMeasurement& one_of : measured)
    times.push_back(each(one_of.batches, processing_s));
  for (const auto& [name, q] : percentiles())
    add_percentile(name, q, times, {"micro-batches", "raise run.max_time or the setting batches"},
                   result);
}

void add_notes(const std::vector<StreamMeasurement>& measured, int wanted, int executors,
               const Batches& all, Result& result) {
  ShareReport work;
  for (const MicroBatch& batch : all) work += batch.work;
  const double ms_per_image = 1e3 / static_cast<double>(work.images);
  result.notes["images"] = work.images;
  result.notes["micro_batches"] = all.size();
  result.notes["busy_share"] = work.elapsed_s / (batch_sum(all, processing_s) * executors);
  result.notes["decode_ms_per_image"] = ms_per_image * work.decode_s;
  result.notes["resize_ms_per_image"] = ms_per_image * work.resize_s;
  result.notes["infer_ms_per_image"] = ms_per_image * work.infer_s;
  result.notes["boxes_ms_per_image"] = ms_per_image * work.boxes_s;
  for (const StreamMeasurement& one_of : measured) {
    if (one_of.stopped_by == measurement::StoppedBy::kTimeLimit)
      result.notes["time_limit"] = "the measurement was ended early to meet the time limit";
    if (!one_of.unsteady.empty()) result.notes["steady"] = one_of.unsteady;
  }
  if (static_cast<int>(measured.size()) < wanted)
    result.notes["repeats"] =
        fmt::format("{} of {} measurements fit into the time limit", measured.size(), wanted);
}

/// Steady if all measurements are, not steady if one is not, else unknown.
std::optional<bool> steady(const std::vector<StreamMeasurement>& measured) {
  std::optional<bool> all = true;
  for (const StreamMeasurement& one_of : measured) {
    if (one_of.steady == false) return false;
    if (!one_of.steady) all.reset();
  }
  return all;
}

}  // namespace

std::vector<double> quantiles_of(const std::vector<std::string>& responses) {
  return requested_quantiles(percentiles(), responses);
}

double mean_load(const std::vector<StreamMeasurement>& measured, const StreamPlan& plan) {
  return batch_mean(each(joined(measured), processing_s)) / plan.interval;
}

Result stream_result(const std::vector<StreamMeasurement>& measured, int wanted, int executors) {
  const Batches all = joined(measured);
  Result result;
  add_ratios(measured, all, result);
  for (const auto& [name, values] : result.repeats) result.responses[name] = batch_mean(values);
  if (measured.size() == 1) result.repeats.clear();
  add_percentiles(measured, result);
  add_notes(measured, wanted, executors, all, result);
  add_series("processing_time", each(all, processing_s), "micro-batches", result);
  add_series("scheduling_delay", each(all, delay_s), "micro-batches", result);
  result.window = {measured.front().window.first, measured.back().window.second};
  result.steady = steady(measured);
  result.stopped_by = measurement::stopped_by_name(
      std::ranges::max(measured, {}, &StreamMeasurement::stopped_by).stopped_by);
  return result;
}

}  // namespace doetune::workloads
