#include "workloads/pipeline/input_pipeline.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "runner/measurement/batch_means.h"
#include "workloads/engines/training.h"
#include "workloads/processes/cpus.h"
#include "workloads/random.h"

namespace doetune::workloads {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::array<const char*, kFeedStages> kStageNames{"read", "decode", "augment"};
constexpr int kClasses = 100;

double seconds(Clock::duration time) { return std::chrono::duration<double>(time).count(); }

std::vector<Input> inputs() {
  using enum InputKind;
  const auto category = [](std::string name, std::vector<std::string> levels,
                           std::string description) {
    return Input{name, categorical, levels.front(), std::move(description), "", 0, 0, levels};
  };
  std::vector<std::string> devices{"auto"};
  for (const EngineType& type : engine_types()) devices.emplace_back(type.device);
  return {
      {"readers", integer, 1, "threads that read, decode and augment; 0: the step does it itself",
       "", 0, 256},
      {"prefetch_depth", integer, 2, "batches that are made ahead", "", 1, 1024},
      category("format", {"records", "loose"}, "one file with offsets, or one file a picture"),
      category("augmentation", {"crop-flip", "crop", "none"}, "random shifts and mirror images"),
      category("augment_in", {"reader", "step"}, "which of them augments"),
      category("memory", {"pageable", "resident"},
               "pictures come from files, or are decoded once and kept in memory"),
      category("step", {"small-cnn", "resnet-20", "resnet-18", "none"},
               "the network whose training step is fed; none: batches are thrown away"),
      {"batch_size", integer, 32, "images in a step", "", 1, 4096},
      {"input_size",
       integer,
       32,
       "width and height of the network's input",
       "pixels",
       32,
       224,
       {},
       32},
      {"image_size", integer, 128, "width and height of the pictures", "pixels", 32, 4096, {}, 2},
      {"images", integer, 500, "pictures that there are", "", 1, 1000000},
      category("precision", {"fp32", "tf32", "bf16", "fp16"}, "of the step"),
      category("device", devices, "where the step runs"),
      {"threads", integer, nullptr, "CPU threads of the step; default: one a core", "", 1, 1024},
      {"warmup", continuous, 1.0, "time before the measurement", "s", 0, 3600},
      {"duration", continuous, 5.0, "least time to measure", "s", 0.01, 86400},
      {"steps", integer, 8, "least number of steps to measure", "", 1, 1000000},
  };
}

std::vector<Response> responses() {
  return {
      {"images_per_second", "images/s", "images that went through the step"},
      {"idle_share", "1", "part of the time in which the step had no batch"},
      {"step_time", "s", "mean time of a step, without waiting for its batch"},
      {"read_share", "1", "reading, of the time that making batches took"},
      {"decode_share", "1", "decoding and scaling, of the time that making batches took"},
      {"augment_share", "1", "augmentation, of the time that making batches took"},
  };
}

/// The training step that is fed; without a network it only has a place for its batch.
class Step {
 public:
  Step(const Inputs& in, std::uint64_t seed, int threads) : batch_(in.integer("batch_size")) {
    const int size = in.integer("input_size");
    if (in.text("step") == "none") {
      thrown_away_.resize(static_cast<std::size_t>(batch_) * 3 * size * size);
      return;
    }
    engine_ = make_engine(in.text("device"));
    const Network network = with_classes(make_network(in.text("step"), size), kClasses);
    std::vector<float> start(static_cast<std::size_t>(parameters(network)));
    std::vector<float> statistics(static_cast<std::size_t>(statistics_count(network)));
    initial_parameters(network, seed, start);
    initial_statistics(network, statistics);
    TrainingOptions options;
    options.batch = batch_;
    options.precision = precision_named(in.text("precision"));
    options.threads = threads;
    network_ = engine_->train(network, start, statistics, options);
    for (std::size_t i = 0; i < network_->labels().size(); ++i)
      network_->labels()[i] = static_cast<std::int32_t>(i % kClasses);
  }

  std::span<float> input() { return network_ ? network_->input() : std::span(thrown_away_); }
  void run() {
    constexpr float kRate = 1e-4F;  // the labels mean nothing: the step is what counts
    if (!network_) return;
    network_->gradients(batch_);
    network_->update(kRate);
  }
  std::string description() const { return engine_ ? engine_->description() : "none"; }

 private:
  int batch_;
  std::vector<float> thrown_away_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<TrainableNetwork> network_;
};

FeedOptions feed_options(const Request& request) {
  const Inputs& in = request.inputs;
  FeedOptions options;
  options.batch = in.integer("batch_size");
  options.size = in.integer("input_size");
  options.readers = in.integer("readers");
  options.depth = in.integer("prefetch_depth");
  options.augmentation = augmentation_named(in.text("augmentation"));
  options.augment_in_readers = in.text("augment_in") == "reader";
  options.resident = in.text("memory") == "resident";
  options.seed = request.seed;
  return options;
}

std::unique_ptr<ImageStore> store_of(const Inputs& in) {
  const int size = in.integer("image_size");
  const ClipSpec spec{size, size, in.integer("images"), 1};
  return in.text("format") == "records" ? open_records(spec, cache_directory())
                                        : open_loose(spec, cache_directory());
}

struct Measurement {
  PipelineTimes times;
  std::vector<double> step_s;  // from one batch to the next
};

Measurement measure(Feed& feed, Step& step, const FeedClock& clock, double least_s, int least) {
  Measurement measured;
  const StageSeconds before = clock.seconds();
  const Clock::time_point start = Clock::now();
  Clock::time_point last = start;
  while (seconds(last - start) < least_s || std::ssize(measured.step_s) < least) {
    const Clock::time_point begin = last;
    measured.times.idle += feed.next(step.input());
    step.run();
    last = Clock::now();
    measured.step_s.push_back(seconds(last - begin));
  }
  measured.times.elapsed = seconds(last - start);
  measured.times.step = measured.times.elapsed - measured.times.idle;
  measured.times.stages = clock.seconds();
  for (std::size_t i = 0; i < kFeedStages; ++i) measured.times.stages[i] -= before[i];
  return measured;
}

void add(const Measurement& measured, int batch, Result& result) {
  const PipelineTimes& times = measured.times;
  const auto steps = static_cast<double>(measured.step_s.size());
  result.repeats["images_per_second"].push_back(steps * batch / times.elapsed);
  result.repeats["idle_share"].push_back(times.idle / times.elapsed);
  result.repeats["step_time"].push_back(times.step / steps);
  const double making = std::accumulate(times.stages.begin(), times.stages.end(), 0.0);
  for (std::size_t i = 0; i < kFeedStages; ++i)
    result.repeats[std::string(kStageNames[i]) + "_share"].push_back(
        making > 0 ? times.stages[i] / making : 0);
}

Result result_of(const std::vector<Measurement>& measurements, int batch) {
  Result result;
  std::vector<double> images, times;
  for (const Measurement& measured : measurements) {
    add(measured, batch, result);
    times.insert(times.end(), measured.step_s.begin(), measured.step_s.end());
  }
  images.assign(times.size(), batch);
  for (const auto& [name, values] : result.repeats)
    result.responses[name] =
        std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  if (measurements.size() == 1) result.repeats.clear();
  if (const auto interval = measurement::ratio_interval(images, times))
    if (const auto relative = interval->relative())
      result.precision["images_per_second"] = *relative;
  result.notes["bottleneck"] = bottleneck(measurements.back().times);
  result.notes["steps"] = times.size();
  return result;
}

Result run(const Request& request) try {
  const Inputs& in = request.inputs;
  const int threads = in.has("threads") ? in.integer("threads")
                                        : static_cast<int>(usable_cpus(request.cpus).size());
  const auto store = store_of(in);
  Step step(in, request.seed, threads);
  FeedClock clock;
  const FeedOptions options = feed_options(request);
  Feed feed(*store, options, clock);
  measure(feed, step, clock, in.number("warmup"), 1);
  const Clock::time_point start = Clock::now();
  std::vector<Measurement> measurements;
  for (int repeat = 0; repeat < request.repeats; ++repeat) {
    measurements.push_back(measure(feed, step, clock, in.number("duration"), in.integer("steps")));
    measurements.back().times.augments_in_step = feed.augments_in_step();
  }
  Result result = result_of(measurements, options.batch);
  result.window = {seconds(start.time_since_epoch()), seconds(Clock::now().time_since_epoch())};
  result.notes["engine"] = step.description();
  result.notes["threads"] = threads;
  return result;
} catch (const CannotRun& error) {
  throw Infeasible(error.what());
} catch (const NoDevice& error) {
  throw Infeasible(error.what());
}

}  // namespace

std::string bottleneck(const PipelineTimes& times) {
  const double augment = times.stages[static_cast<std::size_t>(FeedStage::augment)];
  if (times.idle < kIdle * times.elapsed)
    return times.augments_in_step && augment > times.step / 2 ? "augment" : "step";
  const auto longest = std::ranges::max_element(times.stages);
  if (*longest <= 0) return "copy";
  return kStageNames[static_cast<std::size_t>(longest - times.stages.begin())];
}

const Workload& input_pipeline() {
  static const Workload workload{
      "input-pipeline",
      "reader threads decode pictures and feed a training step: what holds it up?",
      "input-pipeline --readers 1 --step resnet-20 --image_size 256",
      inputs(),
      responses(),
      run};
  return workload;
}

}  // namespace doetune::workloads
