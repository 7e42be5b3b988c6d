#include "workloads/stream_inference.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <utility>

#include "workloads/clip.h"
#include "workloads/engine.h"
#include "workloads/executor_pool.h"
#include "workloads/weights.h"

namespace doetune::workloads {
namespace {

using Clock = std::chrono::steady_clock;

std::vector<std::string> model_names() {
  std::vector<std::string> names;
  for (const NetworkType& type : network_types()) names.emplace_back(type.name);
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
      categories("precision", {"fp32", "bf16"}, "of weights and activations"),
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
      {"processing_time_p50", "s", "median of the processing times"},
      {"processing_time_p99", "s",
       "99 % quantile of the processing times; the largest below 100 micro-batches"},
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
  config.compile = {in.integer("batch_size"),
                    in.text("precision") == "bf16" ? Precision::bf16 : Precision::fp32,
                    std::max(1, threads / config.executors)};
  config.plan = {in.integer("channels"), in.number("decode_rate"), in.number("interval"),
                 in.number("source_fps"), clip_spec(request).frames};
  config.confidence_threshold = static_cast<float>(in.number("confidence_threshold"));
  config.overlap_threshold = static_cast<float>(in.number("overlap_threshold"));
  return config;
}

void check(const StreamPlan& plan) {
  if (plan.decode_rate > plan.source_fps)
    throw UsageError("decode_rate is above source_fps: a camera does not send that many frames");
  if (plan.channels * plan.decode_rate * plan.interval < 1)
    throw UsageError("channels x decode_rate x interval is below one image per micro-batch");
}

struct Measurement {
  std::vector<MicroBatchTimes> times;
  ShareReport total;
  bool cut_short = false;
};

/// One run's stream: micro-batches one after another, those of the warm-up not recorded, and then
/// one measurement after another without a pause between them.
class Stream {
 public:
  Stream(ExecutorPool& pool, const Request& request, const StreamPlan& plan,
         Clock::time_point deadline)
      : pool_(pool),
        plan_(plan),
        deadline_(deadline),
        realtime_(request.inputs.text("arrival") == "realtime"),
        least_batches_(static_cast<std::size_t>(request.inputs.integer("batches"))),
        least_s_(request.inputs.number("duration")) {
    const double warmup_s = request.inputs.number("warmup");
    const auto batches = static_cast<std::int64_t>(std::ceil(warmup_s / plan.interval));
    while (next_ < batches) run_batch();
  }

  /// The next measurement.
  Measurement measure() {
    Measurement measured;
    const double from_s = next_ready_s() - (realtime_ ? plan_.interval : 0);
    for (;;) {
      const auto [times, total] = run_batch();
      measured.times.push_back(times);
      measured.total += total;
      const bool enough = times.done_s - from_s >= least_s_;
      if (measured.times.size() >= least_batches_ && enough) return measured;
      const double next_s = std::max(times.processing_s(), realtime_ ? plan_.interval : 0.0);
      measured.cut_short = Clock::now() + duration(next_s) > deadline_;
      if (measured.cut_short) return measured;
    }
  }

 private:
  static Clock::duration duration(double seconds) {
    return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  }

  double now_s() const { return std::chrono::duration<double>(Clock::now() - origin_).count(); }

  double next_ready_s() const {
    return realtime_ ? static_cast<double>(next_ + 1) * plan_.interval : now_s();
  }

  std::pair<MicroBatchTimes, ShareReport> run_batch() {
    MicroBatchTimes times;
    times.ready_s = next_ready_s();
    pool_.wait_until(origin_ + duration(times.ready_s));
    times.start_s = std::max(times.ready_s, now_s());
    const auto reports = pool_.run(next_++);
    times.done_s = now_s();
    ShareReport total;
    for (const ShareReport& report : reports) total += report;
    return {times, total};
  }

  ExecutorPool& pool_;
  const StreamPlan& plan_;
  Clock::time_point deadline_;
  bool realtime_;
  std::size_t least_batches_;
  double least_s_;
  Clock::time_point origin_ = Clock::now();
  std::int64_t next_ = 0;  ///< micro-batch
};

/// As many measurements as are asked for and fit into the time: at least one, and of further ones
/// only those that are whole.
std::vector<Measurement> measure_repeats(Stream stream, int repeats, Clock::time_point deadline) {
  Clock::time_point began = Clock::now();
  std::vector<Measurement> all{stream.measure()};
  while (static_cast<int>(all.size()) < repeats) {
    const Clock::time_point now = Clock::now();
    if (now + (now - std::exchange(began, now)) > deadline) break;  // if it takes as long again
    Measurement next = stream.measure();
    if (next.cut_short) break;
    all.push_back(std::move(next));
  }
  return all;
}

/// All measurements as one.
Measurement joined(const std::vector<Measurement>& repeats) {
  Measurement all;
  for (const Measurement& measured : repeats) {
    all.times.insert(all.times.end(), measured.times.begin(), measured.times.end());
    all.total += measured.total;
    all.cut_short = all.cut_short || measured.cut_short;
  }
  return all;
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// A quantity of every micro-batch.
std::vector<double> each(const Measurement& measured, double (MicroBatchTimes::*quantity)() const) {
  std::vector<double> values;
  for (const MicroBatchTimes& times : measured.times) values.push_back((times.*quantity)());
  return values;
}

std::map<std::string, double> responses_of(const Measurement& measured) {
  const std::vector<double> processing = each(measured, &MicroBatchTimes::processing_s);
  const double sum = std::accumulate(processing.begin(), processing.end(), 0.0);
  const ShareReport& total = measured.total;
  const auto images = static_cast<double>(total.images);
  return {{"throughput", images / sum},
          {"processing_time", mean(processing)},
          {"processing_time_p50", quantile(processing, 0.5)},
          {"processing_time_p99", quantile(processing, 0.99)},
          {"scheduling_delay", mean(each(measured, &MicroBatchTimes::delay_s))},
          {"decode_share", total.decode_s / total.busy_s()},
          {"detections_per_image", static_cast<double>(total.detections) / images}};
}

/// The responses: each the mean of its repeats.
void add_responses(const std::vector<Measurement>& measured, Result& result) {
  for (const Measurement& repeat : measured) {
    for (const auto& [name, value] : responses_of(repeat)) result.repeats[name].push_back(value);
  }
  for (const auto& [name, values] : result.repeats) result.responses[name] = mean(values);
  if (measured.size() == 1) result.repeats.clear();
}

Result summarise(const std::vector<Measurement>& repeats, int wanted, const ExecutorConfig& config,
                 const std::string& engine) {
  const Measurement measured = joined(repeats);
  std::vector<double> processing = each(measured, &MicroBatchTimes::processing_s);
  const ShareReport& total = measured.total;
  const auto images = static_cast<double>(total.images);
  const double sum = std::accumulate(processing.begin(), processing.end(), 0.0);
  Result result;
  add_responses(repeats, result);
  result.notes = {{"engine", engine},
                  {"threads_per_executor", config.compile.threads},
                  {"images", total.images},
                  {"micro_batches", measured.times.size()},
                  {"offered_images_per_s", config.plan.channels * config.plan.decode_rate},
                  {"busy_share", total.busy_s() / (sum * config.executors)},
                  {"decode_ms_per_image", 1e3 * total.decode_s / images},
                  {"resize_ms_per_image", 1e3 * total.resize_s / images},
                  {"infer_ms_per_image", 1e3 * total.infer_s / images},
                  {"boxes_ms_per_image", 1e3 * total.boxes_s / images}};
  const std::size_t fewest = std::ranges::min(repeats, {}, [](const Measurement& m) {
                               return m.times.size();
                             }).times.size();
  if (fewest < 100)
    result.notes["processing_time_p99"] =
        "the largest of " + std::to_string(fewest) + " micro-batches; a 99 % quantile needs 100";
  if (measured.cut_short)
    result.notes["time_limit"] = "measurement ended early to keep the time limit";
  if (static_cast<int>(repeats.size()) < wanted)
    result.notes["repeats"] = std::to_string(repeats.size()) + " of " + std::to_string(wanted) +
                              " measurements fitted into the time limit";
  result.series = {{"processing_time", std::move(processing)},
                   {"scheduling_delay", each(measured, &MicroBatchTimes::delay_s)}};
  return result;
}

Result run(const Request& request) {
  const Clock::time_point start = Clock::now();
  constexpr double kReserve = 0.95;  // of the time limit; the rest is for ending
  const auto limit = std::chrono::duration<double>(kReserve * request.time_limit_s.value_or(1e9));
  const auto cpus = usable_cpus(request.cpus);
  ExecutorConfig config = executor_config(request, static_cast<int>(cpus.size()));
  check(config.plan);
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
  const auto deadline = start + std::chrono::duration_cast<Clock::duration>(limit);
  const Stream stream(pool, request, config.plan, deadline);
  return summarise(measure_repeats(stream, request.repeats, deadline), request.repeats, config,
                   engine->description());
}

}  // namespace

double quantile(std::vector<double> values, double p) {
  if (values.empty()) throw std::invalid_argument("quantile of no values");
  const auto rank = static_cast<std::size_t>(std::ceil(p * static_cast<double>(values.size())));
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(std::max<std::size_t>(rank, 1) - 1);
  std::ranges::nth_element(values, at);
  return *at;
}

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
