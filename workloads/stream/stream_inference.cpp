#include "workloads/stream/stream_inference.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "runner/measurement/quantile.h"
#include "workloads/engines/engine.h"
#include "workloads/networks/weights.h"
#include "workloads/stream/executor_pool.h"
#include "workloads/stream/stream.h"
#include "workloads/stream/stream_result.h"
#include "workloads/video/clip.h"

namespace doetune::workloads {
namespace {

using Clock = std::chrono::steady_clock;

std::vector<std::string> model_names() {
  std::vector<std::string> names;
  for (const NetworkType& type : network_types())
    if (std::holds_alternative<DetectionHead>(type.build(type.default_height).head))
      names.emplace_back(type.name);
  return names;
}

std::vector<std::string> device_names() {
  std::vector<std::string> names{"auto"};
  for (const EngineType& type : engine_types()) names.emplace_back(type.device);
  return names;
}

std::vector<Input> inputs() {
  using enum InputKind;
  const auto categories = [](std::string name, std::vector<std::string> levels,
                             std::string description) {
    return Input{name, categorical, levels.front(), std::move(description), "", 0, 0, levels};
  };
  return {
      categories("model", model_names(), "the network"),
      {"channels", integer, 8, "cameras", "", 1, 100000},
      {"executors_per_gpu", integer, 1, "executors that share the device; on a CPU, the cores", "",
       1, 16},
      {"batch_size", integer, 8, "images that an executor runs through the network at a time", "",
       1, 256},
      {"decode_rate", continuous, 5.0, "frames decoded and analysed per second and channel", "Hz",
       0.1, 30},
      {"interval", continuous, 1.0, "length of a micro-batch", "s", 0.05, 60},
      categories("precision", {"fp32", "tf32", "bf16", "fp16"}, "of weights and activations"),
      categories("device", device_names(), "where the network runs"),
      {"input_size",
       integer,
       416,
       "width and height of the network's input",
       "pixels",
       32,
       1216,
       {},
       32},
      {"threads", integer, nullptr,
       "CPU threads for inference of all executors; default: one a core", "", 1, 1024},
      categories("arrival", {"realtime", "immediate"},
                 "micro-batches are ready when their interval ends, or at once"),
      {"source_fps", continuous, 30.0, "frames that a camera sends, at least decode_rate", "Hz",
       0.1, 120},
      {"frame_width", integer, 1280, "of the video", "pixels", 64, 7680, {}, 2},
      {"frame_height", integer, 720, "of the video", "pixels", 64, 4320, {}, 2},
      {"clip_seconds", continuous, 4.0, "length of the video that every camera repeats", "s", 0.1,
       600},
      {"weights", text, nullptr, "a Darknet .weights file; default: drawn from the seed"},
      {"warmup", continuous, 1.0, "stream time before the measurement", "s", 0, 3600},
      {"duration", continuous, 5.0, "least time to measure", "s", 0, 86400},
      {"batches", integer, 3, "least number of micro-batches to measure", "", 1, 1000000},
      {"confidence_threshold", continuous, 0.15, "least confidence of a box", "", 0, 1},
      {"overlap_threshold", continuous, 0.45,
       "overlap above which the lesser of two boxes is dropped", "", 0, 1},
  };
}

std::vector<Response> responses() {
  return {
      {"throughput", "images/s",
       "images of the measured micro-batches over the sum of their processing times"},
      {"processing_time", "s", "mean time from the start of a micro-batch to its last image"},
      {"processing_time_p50", "s", "median of the processing times, from 11 micro-batches on"},
      {"processing_time_p99", "s",
       "99 % quantile of the processing times, from 662 micro-batches on"},
      {"scheduling_delay", "s", "mean time that a micro-batch waits before it starts"},
      {"decode_share", "1", "part of the executors' busy time spent decoding video"},
      {"detections_per_image", "1", "boxes after non-maximum suppression"},
  };
}

ClipSpec clip_spec(const Request& request) {
  const Inputs& in = request.inputs;
  const auto frames =
      static_cast<int>(std::lround(in.number("clip_seconds") * in.number("source_fps")));
  return {in.integer("frame_width"), in.integer("frame_height"), std::max(1, frames), 1};
}

FileDescriptor shared_weights(const Request& request, const Network& network) {
  FileDescriptor file = make_memory_file("doetune-weights", weight_count(network) * sizeof(float));
  const Mapping mapping(file.get(), Access::read_write);
  if (request.inputs.has("weights"))
    load_darknet_weights(network, request.inputs.text("weights"), mapping.floats());
  else
    random_weights(network, request.seed, mapping.floats());
  return file;
}

/// What every executor is told, but for its index.
ExecutorConfig executor_config(const Request& request, int cpus) {
  const Inputs& in = request.inputs;
  ExecutorConfig config;
  config.executors = in.integer("executors_per_gpu");
  config.model = in.text("model");
  config.input_size = in.integer("input_size");
  config.device = in.text("device");
  const int threads = in.has("threads") ? in.integer("threads") : cpus;
  config.compile = {in.integer("batch_size"), precision_named(in.text("precision")),
                    std::max(1, threads / config.executors),
                    static_cast<float>(in.number("confidence_threshold")),
                    static_cast<float>(in.number("overlap_threshold"))};
  config.plan = {in.integer("channels"), in.number("decode_rate"), in.number("interval"),
                 in.number("source_fps"), clip_spec(request).frames};
  return config;
}

void check(const StreamPlan& plan) {
  if (plan.decode_rate > plan.source_fps)
    throw UsageError("decode_rate is above source_fps: a camera does not send that many frames");
  if (plan.channels * plan.decode_rate * plan.interval < 1)
    throw UsageError("channels x decode_rate x interval is below one image per micro-batch");
}

/// What the request asks of each measurement.
measurement::StoppingRule stopping_rule(const Request& request) {
  measurement::StoppingRule rule;
  rule.precision = request.precision;
  rule.quantiles = quantiles_of(request.responses);
  rule.least_s = std::max(request.inputs.number("duration"), request.min_time_s.value_or(0));
  rule.least_count = static_cast<std::size_t>(request.inputs.integer("batches"));
  rule.most_s = request.max_time_s;
  return rule;
}

/// Throws where a percentile is asked for that the stream cannot bring together in `most_s`.
void check_time(const measurement::StoppingRule& rule, const StreamPlan& plan, double most_s) {
  for (const double q : rule.quantiles) {
    const std::size_t needed = measurement::least_count(q);
    if (static_cast<double>(needed) * plan.interval <= most_s) continue;
    throw UsageError(fmt::format(
        "a {:g} % quantile needs {} micro-batches of {:g} s, and there are {:g} s to measure: "
        "shorten interval, set arrival to immediate, or raise run.max_time and run.timeout",
        100 * q, needed, plan.interval, most_s));
  }
}

Result run(const Request& request) {
  const Inputs& in = request.inputs;
  const Clock::time_point start = Clock::now();
  constexpr double kReserve = 0.95;  // of the time limit; the rest is for ending
  const double limit_s = kReserve * request.time_limit_s.value_or(1e9);
  const auto cpus = usable_cpus(request.cpus);
  ExecutorConfig config = executor_config(request, static_cast<int>(cpus.size()));
  check(config.plan);
  const measurement::StoppingRule rule = stopping_rule(request);
  const bool realtime = in.text("arrival") == "realtime";
  if (realtime && rule.adaptive())
    check_time(rule, config.plan, std::min(limit_s, rule.most_s.value_or(limit_s)));
  const auto engine = make_engine(config.device);
  const FileDescriptor weights =
      shared_weights(request, make_network(config.model, config.input_size));
  const FileDescriptor clip = open_clip(clip_spec(request), cache_directory());
  config.weights_fd = weights.get();
  config.clip_fd = clip.get();
  ExecutorPool pool(config.executors, cpus, [&](int index) {
    config.index = index;
    return config;
  });
  const auto deadline =
      start + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(limit_s));
  Stream stream(pool, config.plan, realtime);
  stream.warm_up(in.number("warmup"));
  const auto measured = measure_repeats(stream, rule, request.repeats, deadline);
  Result result = stream_result(measured, request.repeats, config.executors);
  result.notes["engine"] = engine->description();
  result.notes["threads_per_executor"] = config.compile.threads;
  result.notes["offered_images_per_s"] = config.plan.channels * config.plan.decode_rate;
  return result;
}

}  // namespace

const Workload& stream_inference() {
  static const Workload workload{
      "stream-inference",
      "object detection on many video channels in micro-batches, shared by executor processes",
      "stream-inference --channels 8 --decode_rate 3 --executors_per_gpu 2 --batch_size 4 "
      "--input_size 160",
      inputs(),
      responses(),
      run};
  return workload;
}

}  // namespace doetune::workloads
