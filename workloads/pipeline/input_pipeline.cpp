// The workload `input-pipeline`: reader threads make batches from coded images and feed a training
// step. Measures what limits the step, and by how much.
#include "workloads/workloads.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "base/clock.h"
#include "base/random.h"
#include "workloads/engines/training.h"
#include "workloads/memory.h"
#include "workloads/pipeline/pipeline_result.h"
#include "workloads/shared_inputs.h"
#include "workloads/timing/timed_runs.h"

namespace doetune::workloads {
namespace {

constexpr int kClasses = 100;

std::vector<Input> input_pipeline_inputs() {
  using enum InputKind;
  return {
      {"readers", integer, 1, "threads that read, decode and augment; 0: the training thread does",
       "", 0, 256},
      {"prefetch_depth", integer, 2, "batches prepared ahead", "", 1, 1024},
      categories("format", {"records", "loose"}, "one file with offsets, or one file per image"),
      categories("augmentation", {"crop-flip", "crop", "none"}, "random shifts and mirror images"),
      categories("augment_in", {"reader", "step"}, "where images are augmented"),
      categories("memory", {"pageable", "pinned", "resident"},
                 "batches of encoded images, in pageable or pinned memory (which a GPU can read "
                 "directly), or images decoded once and kept"),
      categories("step", {"small-cnn", "resnet-20", "resnet-18", "none"},
                 "the network whose training step is fed; none: batches are discarded"),
      {"batch_size", integer, 32, "images per step", "", 1, 4096},
      {"input_size",
       integer,
       32,
       "width and height of the network's input",
       "pixels",
       32,
       224,
       {},
       32},
      {"image_size", integer, 128, "width and height of the images", "pixels", 32, 4096, {}, 2},
      {"images", integer, 500, "number of images", "", 1, 1000000},
      precision_input("number format of the step"),
      device_input("device of the step"),
      {"threads", integer, nullptr, "CPU threads of the step; default: one per core", "", 1, 1024},
      {"warmup", continuous, 1.0, "warm-up time before the measurement", "s", 0, 3600},
      {"duration", continuous, 5.0, "minimum measurement time", "s", 0.01, 86400},
      {"steps", integer, 8, "minimum number of measured steps", "", 1, 1000000},
  };
}

/// The training step being fed; without a network, only a buffer for its batch.
class Step {
 public:
  Step(const Inputs& in, std::uint64_t seed, int threads) : batch_(in.integer("batch_size")) {
    const int size = in.integer("input_size");
    if (in.text("step") == "none") {
      const std::int64_t elements = std::int64_t{batch_} * 3 * size * size;
      require_memory(elements * static_cast<std::int64_t>(sizeof(float)), "a batch");
      thrown_away_.resize(static_cast<std::size_t>(elements));
      return;
    }
    engine_ = make_engine(in.text("device"));
    const Network network = with_classes(make_network(in.text("step"), size), kClasses);
    const InitialState start = initial_state(network, seed);
    TrainingOptions options;
    options.batch = batch_;
    options.precision = precision_named(in.text("precision"));
    options.threads = threads;
    if (in.text("memory") == "pageable") options.input_memory = HostMemory::pageable;
    network_ = engine_->train(network, start.parameters, start.statistics, options);
    for (std::size_t i = 0; i < network_->labels().size(); ++i)
      network_->labels()[i] = static_cast<std::int32_t>(i % kClasses);
  }

  std::span<float> input() { return network_ ? network_->input() : std::span(thrown_away_); }
  void run() {
    constexpr float kRate = 1e-4F;  // arbitrary, as the labels are: only the time of a step matters
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

/// Steps until the stopping rule is met.
PipelineMeasurement measure(Feed& feed, Step& step, const FeedClock& clock,
                            const measurement::StoppingRule& rule) {
  const double start_s = monotonic_s();
  measurement::Measurement times(rule, start_s);
  PipelineMeasurement measured;
  double last_s = start_s;
  StageSeconds last_stages = clock.seconds();
  while (!times.stopped_by()) {
    FedStep one;
    one.idle = feed.next(step.input());
    step.run();
    const double end_s = monotonic_s();
    const StageSeconds stages = clock.seconds();
    one.total = end_s - std::exchange(last_s, end_s);
    for (std::size_t i = 0; i < kFeedStages; ++i) one.stages[i] = stages[i] - last_stages[i];
    last_stages = stages;
    measured.values.push_back(one);
    times.add(one.total, end_s);
  }
  conclude(times, "step_time", measured);
  return measured;
}

/// At least one measurement; further ones as the time limit allows.
std::vector<PipelineMeasurement> measure_all(Feed& feed, Step& step, const FeedClock& clock,
                                             const TimingOptions& options) {
  measurement::StoppingRule warmup;
  warmup.min_s = options.warmup_s;
  warmup.deadline_s = options.rule.deadline_s;
  measure(feed, step, clock, warmup);
  std::vector<PipelineMeasurement> all;
  for (double took_s = 0;
       std::ssize(all) < options.repeats &&
       (all.empty() || monotonic_s() + took_s < options.rule.deadline_s.value_or(INFINITY));) {
    const double began_s = monotonic_s();
    PipelineMeasurement next = measure(feed, step, clock, options.rule);
    took_s = monotonic_s() - began_s;
    if (all.empty() || next.stopped_by != measurement::StoppedBy::kTimeLimit)
      all.push_back(std::move(next));
  }
  return all;
}

/// Pinned memory is only useful for a GPU, which reads batches by DMA.
void check_memory(const Inputs& in) {
  if (in.text("memory") == "pinned" && resolve_device(in.text("device")) != "cuda")
    throw Infeasible(
        "memory = pinned is for batches that a GPU reads; on a CPU use pageable or resident");
}

Result run_input_pipeline(const Request& request) {
  const Clock::time_point start = Clock::now();
  const Inputs& in = request.inputs;
  check_memory(in);
  const int threads = threads_of(request);
  const FeedOptions options = feed_options(request);
  require_feed_memory(options, in.integer("images"));  // before images are generated
  const auto store = store_of(in);
  Step step(in, request.seed, threads);
  FeedClock clock;
  Feed feed(*store, options, clock);
  TimingOptions timing = timing_options(request, start);
  timing.rule.min_count = static_cast<std::size_t>(in.integer("steps"));
  Result result = pipeline_result(
      measure_all(feed, step, clock, timing),
      {options.batch, options.readers, options.depth, feed.augments_in_step(), request.repeats});
  result.notes["engine"] = step.description();
  result.notes["threads"] = threads;
  return result;
}

}  // namespace

const Workload& input_pipeline_workload() {
  static const Workload workload{
      "input-pipeline",
      "reader threads decode images and feed a training step: where is the bottleneck?",
      "input-pipeline --readers 1 --step resnet-20 --image_size 256",
      input_pipeline_inputs(),
      pipeline_responses(),
      run_input_pipeline};
  return workload;
}

}  // namespace doetune::workloads
