// The workload `stream-inference`: object detection on many cameras, in micro-batches, as in a
// Spark Streaming job whose executors each hold one network.
//
// Time is divided into intervals. Micro-batch k holds the frames that decode_rate selects from the
// cameras in interval k (images = channels x decode_rate x interval) and is ready when the interval
// ends. It starts when the previous one is done (scheduling delay = start - ready). Its images are
// divided among the executors of all GPUs; each decodes its images, by itself as a Spark task would
// or with decoder threads, and runs the network on batch_size of them at a time. The micro-batch is
// done when the slowest executor has its last boxes (processing time = done - start).
#include "workloads/workloads.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>

#include "base/clock.h"
#include "runner/measurement/quantile.h"
#include "workloads/shared_inputs.h"
#include "workloads/stream/session.h"
#include "workloads/stream/stream.h"
#include "workloads/stream/stream_inputs.h"
#include "workloads/stream/stream_result.h"
#include "workloads/stream/sustained_channels.h"
#include "workloads/timing/roofline.h"
#include "workloads/timing/stopping_rule.h"
#include "workloads/video/clip.h"

namespace doetune::workloads {
namespace {

Clock::duration to_duration(double s) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(s));
}

std::optional<int> queue_limit(const Inputs& in) {
  return in.has("queue_limit") ? std::optional(in.integer("queue_limit")) : std::nullopt;
}

/// How the stream is measured.
struct Measuring {
  bool realtime;
  std::optional<int> queue_limit;
  double warmup_s;
  measurement::StoppingRule rule;
  int repeats;
  Clock::time_point deadline;

  std::vector<StreamMeasurement> operator()(ExecutorPool& pool, const StreamPlan& plan) const {
    Stream stream(pool, plan, realtime, queue_limit);
    stream.warm_up(warmup_s);
    return measure_repeats(stream, rule, repeats, deadline);
  }
  /// The minimum duration of one call.
  Clock::duration time(const StreamPlan& plan) const {
    const double each_s = std::max(
        {rule.min_s, rule.max_s.value_or(0), static_cast<double>(rule.min_count) * plan.interval});
    return to_duration(warmup_s + repeats * each_s);
  }
};

Measuring measuring(const Request& request, Clock::time_point deadline) {
  const Inputs& in = request.inputs;
  auto rule = stopping_rule(request, in.integer("batches"));
  rule.quantiles = quantiles_of(request.responses);
  return {in.text("arrival") == "realtime",
          queue_limit(in),
          in.number("warmup"),
          rule,
          request.repeats,
          deadline};
}

/// The load at a number of cameras, from a few micro-batches without a pause between them.
std::optional<double> probe(ExecutorPool& pool, StreamPlan plan, int channels, double expected_load,
                            const Measuring& measuring) {
  constexpr std::size_t kBatches = 6;
  constexpr int kWarmUp = 2;
  const double expected_s = (kWarmUp + kBatches) * expected_load * plan.interval;
  if (Clock::now() + to_duration(expected_s) + measuring.time(plan) > measuring.deadline)
    return std::nullopt;
  plan.channels = channels;
  Stream stream(pool, plan, false);
  stream.warm_up_batches(kWarmUp);
  measurement::StoppingRule rule;
  rule.min_count = std::max(kBatches, measuring.rule.min_count);
  return mean_load({stream.measure(rule)}, plan);
}

/// Finds the maximum number of cameras and measures there. If the measurement, which is longer than
/// a probe, shows that the stream does not keep up, repeats it with fewer.
Result measure_sustained(ExecutorPool& pool, StreamPlan& plan, const Measuring& measuring,
                         int executors) {
  double expected_load = 1;
  ChannelSearch search = find_sustained_channels(plan.channels, kMaxChannels, [&](int channels) {
    const auto load = probe(pool, plan, channels, expected_load, measuring);
    expected_load = std::max(0.1, 2 * load.value_or(0));
    return load;
  });
  const int lowest = plan.channels;
  plan.channels = std::max(lowest, search.channels);
  std::vector<StreamMeasurement> measured = measuring(pool, plan);
  search.probes.push_back({plan.channels, mean_load(measured, plan)});
  while (!search.probes.back().sustained() && plan.channels > lowest &&
         Clock::now() + measuring.time(plan) < measuring.deadline) {
    const double fitting = plan.channels / search.probes.back().load;
    plan.channels = std::clamp(static_cast<int>(fitting), lowest, plan.channels - 1);
    measured = measuring(pool, plan);
    search.probes.push_back({plan.channels, mean_load(measured, plan)});
  }
  Result result = stream_result(measured, measuring.repeats, executors);
  const bool kept_up = search.probes.back().sustained();
  if (kept_up || plan.channels == lowest)
    result.responses["channels_sustained"] = kept_up ? plan.channels : 0;
  else
    result.notes["channels_sustained"] = "the time limit left no time to find it";
  if (!search.complete)
    result.notes["search"] =
        "the search ended at the time limit or at the maximum number of channels";
  Json& probes = result.notes["probes"] = Json::array();
  for (const ChannelProbe& each : search.probes)
    probes.push_back({{"channels", each.channels}, {"load", each.load}});
  return result;
}

Result run_stream_inference(const Request& request) {
  const Inputs& in = request.inputs;
  const Measuring measuring_at =
      measuring(request, Clock::now() + to_duration(usable_time_s(request)));
  const Placement placed = placement(request);
  const ClipSpec spec = clip_spec(request);
  StreamPlan plan = stream_plan(request);
  check_time(request, measuring_at.rule, plan);
  const Precision precision = precision_named(in.text("precision"));
  const auto peak_rates = peak_rates_for(request, precision);
  Session session(request, placed, plan, spec);
  Result result;
  if (in.is_word("channels")) {
    result = measure_sustained(session.pool(), plan, measuring_at, placed.executors());
  } else {
    result = stream_result(measuring_at(session.pool(), plan), request.repeats, placed.executors());
    result.notes["channels_sustained"] = "found only with channels = max";
  }
  add_roofline_fraction(peak_rates, network_of(in), in.integer("batch_size"), precision,
                        placed.gpus, result);
  session.add_notes(result);
  result.notes["channels"] = plan.channels;
  result.notes["offered_images_per_s"] = plan.channels * plan.decode_rate;
  return result;
}

}  // namespace

const Workload& stream_inference_workload() {
  static const Workload workload{
      "stream-inference",
      "object detection on many video channels in micro-batches, distributed to executors",
      "stream-inference --channels 8 --decode_rate 3 --executors_per_gpu 2 --batch_size 4 "
      "--input_size 160",
      stream_inputs(),
      stream_responses(),
      run_stream_inference};
  return workload;
}

}  // namespace doetune::workloads
