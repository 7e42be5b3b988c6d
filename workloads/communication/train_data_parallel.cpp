// The workload `train-data-parallel`: training throughput of several ranks, each with a part of the
// batch.
//
// The images are random and stay in memory, so that only training and communication are measured.
// speed_up is the throughput of all ranks over that of one rank that trains on the whole batch
// alone, with the threads or the GPU of one rank; efficiency is speed_up / ranks. Both are ratios
// of two independent means, so their relative half-width is the root of the sum of squares of those
// of the two mean times (ISO/IEC Guide 98-3:2008, 5.1.6).
#include "workloads/workloads.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <fstream>

#include "base/clock.h"
#include "base/files.h"
#include "runner/measurement/batch_means.h"
#include "workloads/communication/ranked.h"
#include "workloads/communication/ranked_training.h"
#include "workloads/shared_inputs.h"
#include "workloads/training/trainer.h"

namespace doetune::workloads {
namespace {

constexpr double kBaselineFraction = 0.4;  // of the time limit

std::vector<std::string> classifiers() {
  std::vector<std::string> names;
  for (const NetworkType& type : network_types())
    if (std::holds_alternative<ClassificationHead>(type.build(type.default_height).head))
      names.emplace_back(type.name);
  return names;
}

std::vector<Input> train_data_parallel_inputs() {
  using enum InputKind;
  Input network = categories("network", classifiers(), "the network to train");
  network.default_value = "resnet-20";
  std::vector<Input> all{
      network,
      {"batch_size", integer, 64, "images per step, over all ranks", "", 1, 65536},
      categories(
          "parallelism", {"data", "model"},
          "what is divided among the ranks: the images of a step, or the layers of the network"),
      {"micro_batches", integer, 4,
       "parts of a batch that follow one another through the stages (parallelism: model)", "", 1,
       65536},
      {"input_size", integer, nullptr, "height and width of the images; default: the network's own",
       "pixels", 1, 4096},
      precision_input("number format of weights and activations"),
      device_input("device of each rank"),
      {"threads", integer, nullptr,
       "CPU threads of a rank; default: an equal part of the run's cores, or OMP_NUM_THREADS", "",
       1, 1024},
      {"bucket_mb", continuous, 25.0,
       "size of the buckets in which gradients are summed; the first has at most 1 MiB", "MiB",
       0.01, 16384},
      categories(
          "communication_type", {"fp32", "bf16"},
          "number format of gradients sent between ranks and of activations sent between stages"),
      {"learning_rate", continuous, 0.01, "learning rate of stochastic gradient descent", "", 0,
       1e6},
      categories("baseline", {"true", "false"},
                 "whether one rank alone is measured first, for speed_up and efficiency"),
      {"weights_file", text, nullptr,
       "a file that rank 0 writes the trained weights to, as 32-bit floats in layer order"}};
  const auto more = ranked_inputs();
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

std::vector<Response> train_data_parallel_responses() {
  return {{"throughput", "images/s", "images per second over all ranks"},
          {"step_time", "s", "mean time of a step, on the slowest rank"},
          {"communication_share", "1",
           "fraction of a step in which rank 0 waits for other ranks: for sums that the backward "
           "pass did not hide, or for gradients of the next stage"},
          {"speed_up", "1", "throughput divided by that of one rank with the whole batch"},
          {"efficiency", "1", "speed_up divided by ranks"}};
}

struct Measured {
  std::vector<RankedMeasurement> measurements;
  std::optional<double> first_loss = {};
  double last_loss = 0;
  std::int64_t steps = 0;
  std::optional<std::int64_t> diverged_at_step = {};  // steps before it

  void parameters(double loss) {
    if (!first_loss) first_loss = loss;
    last_loss = loss;
    if (!diverged_at_step && !(loss <= kDivergedLoss * *first_loss)) diverged_at_step = steps;
    ++steps;
  }
};

/// Trains on the ranks of the communicator and measures the steps.
Measured learn(Communicator& communicator, const Request& request, const RankTraining& training) {
  const auto ranks = static_cast<std::size_t>(communicator.size());
  Measured measured;
  measured.measurements = measure_together(communicator, request, "step_time", [&] {
    const auto start = Clock::now();
    const RankStep step = training.step();
    const std::chrono::duration<float> total = Clock::now() - start;
    std::vector<float> all(ranks + 1, 0.0F);  // each rank's time, then the loss
    all[static_cast<std::size_t>(communicator.rank())] = total.count();
    all[ranks] = static_cast<float>(step.loss);
    communicator.all_reduce(all);
    measured.parameters(static_cast<double>(all[ranks]));
    all.pop_back();
    return Timing{static_cast<double>(std::ranges::max(all)), step.waited_s};
  });
  return measured;
}

/// One rank's step on the whole batch.
struct Baseline {
  double step_s = 0;
  std::optional<double> relative_half_width = {};
  std::string unsteady = {};  // why it is not steady; empty where it is
};

Baseline baseline_of(const Communicator& communicator, Request request) try {
  request.repeats = 1;
  if (request.time_limit_s) *request.time_limit_s *= kBaselineFraction;
  const auto itself = alone(communicator.local_rank());
  const RankedMeasurement measured =
      learn(*itself, request, make_rank_training(*itself, request, "data")).measurements.front();
  const auto steps_s = each<Timing>(measured.values, &Timing::total_s);
  const auto interval = measurement::mean_interval(steps_s);
  return {sum(steps_s) / static_cast<double>(steps_s.size()),
          interval ? interval->relative() : std::nullopt, measured.unsteady};
} catch (const CannotRun& error) {
  throw Infeasible(
      fmt::format("one rank alone cannot run the whole batch (baseline: false leaves "
                  "that out): {}",
                  error.what()));
}

/// The precision of a ratio of two independent means; removed where that of one mean is unknown.
void widen(Result& result, const std::string& name, std::optional<double> other) {
  const auto own = result.precision.find(name);
  if (own == result.precision.end()) return;
  if (other)
    own->second = std::hypot(own->second, *other);
  else
    result.precision.erase(own);
}

void add_baseline(Result& result, const Baseline& baseline, double batch) {
  for (const char* name : {"speed_up", "efficiency"})
    widen(result, name, baseline.relative_half_width);
  result.notes["baseline_throughput"] = batch / baseline.step_s;
  if (baseline.relative_half_width)
    result.notes["baseline_precision"] = *baseline.relative_half_width;
  if (!baseline.unsteady.empty()) result.notes["baseline"] = baseline.unsteady;
}

Result answer(const Measured& measured, const Request& request, int ranks,
              const std::optional<Baseline>& baseline) {
  const double batch = request.inputs.number("batch_size");
  const auto total_s = [](const Timing& timing) { return timing.total_s; };
  const auto waited_s = [](const Timing& timing) { return timing.waited_s; };
  const auto constant = [](double value) { return [value](const Timing&) { return value; }; };
  std::vector<TimingRatio> ratios{{"throughput", constant(batch), total_s},
                                  {"step_time", total_s, constant(1)},
                                  {"communication_share", waited_s, total_s}};
  if (baseline) {
    ratios.push_back({"speed_up", constant(baseline->step_s), total_s});
    ratios.push_back({"efficiency", constant(baseline->step_s / ranks), total_s});
  }
  Result result = ranked_result(measured.measurements, ratios, "step_time", request.repeats);
  if (baseline)
    add_baseline(result, *baseline, batch);
  else
    for (const char* name : {"speed_up", "efficiency"})
      result.notes[name] = "is measured with the setting baseline: true";
  result.notes["steps"] = measured.steps;
  result.notes["first_loss"] = *measured.first_loss;
  result.notes["last_loss"] = measured.last_loss;
  if (measured.diverged_at_step) result.notes["diverged_at_step"] = *measured.diverged_at_step;
  return result;
}

/// Checked before training, so that an unwritable file wastes none.
void check_writable(const std::string& file) {
  if (!std::ofstream(file, std::ios::binary | std::ios::app))
    throw UsageError(fmt::format("weights_file: cannot write {}: {}", file, std::strerror(errno)));
}

Result measure_train_data_parallel(Communicator& communicator, const Request& request) {
  const Inputs& in = request.inputs;
  const bool root = communicator.rank() == 0;
  const bool keep = in.has("weights_file");
  check_shares(request, communicator.size());
  if (root && keep) check_writable(in.text("weights_file"));
  std::optional<Baseline> baseline;
  if (in.text("baseline") == "true") {
    if (root) baseline = baseline_of(communicator, request);
    communicator.barrier();
  }
  const RankTraining training = make_rank_training(communicator, request, in.text("parallelism"));
  const Measured measured = learn(communicator, request, training);
  const auto weights = keep ? training.parameters() : std::vector<float>();
  if (!root) return {};
  if (keep) replace_file(in.text("weights_file"), weights);
  Result result = answer(measured, request, communicator.size(), baseline);
  result.notes["engine"] = make_engine(in.text("device"))->description();
  return result;
}

Result run_train_data_parallel(const Request& request) {
  const bool gpus = resolve_device(request.inputs.text("device")) == "cuda";
  return run_ranked(request, gpus, [&](Communicator& communicator) {
    return measure_train_data_parallel(communicator, request);
  });
}

}  // namespace

const Workload& train_data_parallel_workload() {
  static const Workload workload{
      "train-data-parallel",
      "training of one network by several ranks, each with a part of the batch",
      "train-data-parallel --ranks 2 --network resnet-20 --batch_size 64 --bucket_mb 1",
      train_data_parallel_inputs(),
      train_data_parallel_responses(),
      run_train_data_parallel};
  return workload;
}

}  // namespace doetune::workloads
