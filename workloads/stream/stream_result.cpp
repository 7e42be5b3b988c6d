#include "workloads/stream/stream_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "runner/measurement/batch_means.h"
#include "runner/measurement/quantile.h"

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

struct Percentile {
  const char* name;
  double q;
};

constexpr std::array<Percentile, 2> kPercentiles{
    {{"processing_time_p50", 0.5}, {"processing_time_p99", 0.99}}};

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

void add_percentiles(const std::vector<StreamMeasurement>& measured, const Batches& all,
                     Result& result) {
  const std::size_t fewest = std::ranges::min(measured, {}, [](const StreamMeasurement& m) {
                               return m.batches.size();
                             }).batches.size();
  for (const auto& [name, q] : kPercentiles) {
    const std::size_t needed = measurement::min_count(q);
    if (fewest < needed) {
      result.notes[name] = fmt::format(
          "a {:g} % quantile needs {} micro-batches, but {} were measured; raise run.max_time or "
          "the setting batches",
          100 * q, needed, fewest);
      continue;
    }
    for (const StreamMeasurement& one_of : measured)
      result.repeats[name].push_back(
          measurement::quantile_interval(each(one_of.batches, processing_s), q)->value);
    const auto interval = *measurement::quantile_interval(each(all, processing_s), q);
    result.precision[name] =
        std::max(interval.high - interval.value, interval.value - interval.low) / interval.value;
  }
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

void add_series(const Batches& all, Result& result) {
  const std::size_t size = (all.size() + kLongestSeries - 1) / kLongestSeries;
  for (const auto& [name, quantity] :
       {std::pair("processing_time", &processing_s), std::pair("scheduling_delay", &delay_s)}) {
    const std::vector<double> values = each(all, quantity);
    std::vector<double>& series = result.series[name];
    for (auto from = values.begin(); from != values.end();) {
      const auto to = from + std::min<std::ptrdiff_t>(size, values.end() - from);
      series.push_back(batch_mean(std::vector<double>(from, to)));
      from = to;
    }
  }
  if (size > 1) result.notes["series"] = fmt::format("means of {} micro-batches each", size);
}

}  // namespace

std::vector<double> quantiles_of(const std::vector<std::string>& responses) {
  std::vector<double> quantiles;
  for (const auto& [name, q] : kPercentiles)
    if (std::ranges::find(responses, name) != responses.end()) quantiles.push_back(q);
  return quantiles;
}

double mean_load(const std::vector<StreamMeasurement>& measured, const StreamPlan& plan) {
  return batch_mean(each(joined(measured), processing_s)) / plan.interval;
}

Result stream_result(const std::vector<StreamMeasurement>& measured, int wanted, int executors) {
  const Batches all = joined(measured);
  Result result;
  add_ratios(measured, all, result);
  add_percentiles(measured, all, result);
  for (const auto& [name, values] : result.repeats) result.responses[name] = batch_mean(values);
  if (measured.size() == 1) result.repeats.clear();
  add_notes(measured, wanted, executors, all, result);
  add_series(all, result);
  result.window = {measured.front().window.first, measured.back().window.second};
  result.steady = steady(measured);
  result.stopped_by = measurement::stopped_by_name(
      std::ranges::max(measured, {}, &StreamMeasurement::stopped_by).stopped_by);
  return result;
}

}  // namespace doetune::workloads
