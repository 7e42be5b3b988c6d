#include "workloads/communication/train_data_parallel.h"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "workloads/communication/data_parallel.h"
#include "workloads/communication/ranked.h"
#include "workloads/random.h"
#include "workloads/training/trainer.h"

namespace doetune::workloads {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kBaselineShare = 0.4;  // of the time limit

Input category(std::string name, std::vector<std::string> levels, std::string description) {
  return {std::move(name), InputKind::categorical, levels.front(), std::move(description), "", 0, 0,
          levels};
}

std::vector<std::string> classifiers() {
  std::vector<std::string> names;
  for (const NetworkType& type : network_types())
    if (std::holds_alternative<ClassificationHead>(type.build(type.default_height).head))
      names.emplace_back(type.name);
  return names;
}

std::vector<Input> inputs() {
  using enum InputKind;
  std::vector<std::string> devices{"auto"};
  for (const EngineType& type : engine_types()) devices.emplace_back(type.device);
  Input network = category("network", classifiers(), "what learns");
  network.default_value = "resnet-20";
  std::vector<Input> all{
      network,
      {"batch_size", integer, 64, "images in a step, of all ranks together", "", 1, 65536},
      {"input_size", integer, nullptr, "height and width of the images; default: the network's own",
       "pixels", 1, 4096},
      category("precision", {"fp32", "tf32", "bf16", "fp16"},
               "of weights and activations in a step"),
      category("device", devices, "where each rank learns"),
      {"threads", integer, nullptr,
       "CPU threads of a rank; default: the run's cores shared out, or OMP_NUM_THREADS", "", 1,
       1024},
      {"bucket_mb", continuous, 25.0,
       "gradients that are summed at a time; the first bucket has 1 MiB at most", "MiB", 0.01,
       16384},
      category("communication_type", {"fp32", "bf16"}, "of gradients between ranks"),
      {"learning_rate", continuous, 0.01, "of stochastic gradient descent", "", 0, 1e6},
      category("baseline", {"true", "false"},
               "whether one rank alone is measured first, for speed_up and efficiency")};
  const auto more = ranked_inputs();
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

std::vector<Response> responses() {
  return {{"throughput", "images/s", "images of all ranks over the time of their steps"},
          {"step_time", "s", "mean time of a step, on the slowest rank"},
          {"communication_share", "1",
           "part of a step in which rank 0 waits for sums that the backward pass did not cover"},
          {"speed_up", "1", "throughput over that of one rank with the whole batch"},
          {"efficiency", "1", "speed_up over ranks"}};
}

std::unique_ptr<TrainableNetwork> network_of(const Request& request, BatchShare share, int gpu) {
  const Inputs& in = request.inputs;
  const NetworkType& type = network_type(in.text("network"));
  const Network network = make_network(
      type.name, in.has("input_size") ? in.integer("input_size") : type.default_height);
  std::vector<float> start(static_cast<std::size_t>(parameters(network)));
  std::vector<float> statistics(static_cast<std::size_t>(statistics_count(network)));
  initial_parameters(network, request.seed, start);
  initial_statistics(network, statistics);
  TrainingOptions options;
  options.batch = share.count;
  options.first_image = share.first;
  options.seed = request.seed;
  options.precision = precision_named(in.text("precision"));
  options.threads = in.has("threads") ? in.integer("threads") : omp_get_max_threads();
  return make_engine(in.text("device"), {.gpu = gpu})->train(network, start, statistics, options);
}

/// Images `first` ... of the batch: uniform noise of mean 0 and variance 1, labels at random.
void fill(TrainableNetwork& network, std::uint64_t seed, int classes, BatchShare share) {
  const auto images = network.input();
  const std::size_t elements = images.size() / static_cast<std::size_t>(share.count);
  const float width = std::sqrt(12.0F);
  for (std::size_t i = 0; i < images.size(); ++i)
    images[i] =
        width * (random_unit(seed, static_cast<std::size_t>(share.first) * elements + i) - 0.5F);
  const std::uint64_t label_seed = random_bits(seed, 0);
  for (int i = 0; i < share.count; ++i)
    network.labels()[i] = static_cast<std::int32_t>(
        random_bits(label_seed, static_cast<std::uint64_t>(share.first + i)) %
        static_cast<std::uint64_t>(classes));
}

struct Measured {
  std::vector<RankedMeasurement> measurements;
  double first_loss = 0;
  double last_loss = 0;
};

/// The ranks of the communicator learn together while they are measured.
Measured learn(Communicator& communicator, const Request& request) {
  const Inputs& in = request.inputs;
  const int batch = in.integer("batch_size");
  const BatchShare share = batch_share(batch, communicator.rank(), communicator.size());
  const auto network = network_of(request, share, communicator.local_rank());
  const Network layers =
      make_network(in.text("network"), network_type(in.text("network")).default_height);
  fill(*network, request.seed, std::get<ClassificationHead>(layers.head).classes, share);
  const auto bucket = static_cast<std::int64_t>(in.number("bucket_mb") * (1 << 20) / 4);
  DataParallel parallel(communicator, *network,
                        {bucket, communication_type_named(in.text("communication_type"))});
  const auto rate = static_cast<float>(in.number("learning_rate"));
  std::optional<double> first_loss;
  double last_loss = 0;
  Measured measured;
  measured.measurements = measure_together(communicator, request, "step_time", [&] {
    const auto start = Clock::now();
    const DataParallel::Step step = parallel.step(batch, rate);
    const double total_s = std::chrono::duration<double>(Clock::now() - start).count();
    last_loss = step.score.loss;
    if (!first_loss) first_loss = last_loss;
    const auto all = communicator.gather(static_cast<float>(total_s));
    return Timing{static_cast<double>(std::ranges::max(all)), step.waited_s};
  });
  measured.first_loss = parallel.joined_loss(batch, *first_loss);
  measured.last_loss = parallel.joined_loss(batch, last_loss);
  return measured;
}

double mean_step_s(const std::vector<RankedMeasurement>& measurements) {
  double sum = 0, count = 0;
  for (const RankedMeasurement& one : measurements)
    for (const Timing& timing : one.values) {
      sum += timing.total_s;
      ++count;
    }
  return sum / count;
}

/// Seconds of a step of this rank with the whole batch.
double step_alone_s(const Communicator& communicator, Request request) try {
  request.repeats = 1;
  if (request.time_limit_s) *request.time_limit_s *= kBaselineShare;
  Place place;
  place.local_rank = communicator.local_rank();
  Group group(place, Json::object(), std::chrono::seconds(1));
  const auto itself = make_communicator("shm", group);
  return mean_step_s(learn(*itself, request).measurements);
} catch (const CannotRun& error) {
  throw Infeasible(
      fmt::format("one rank alone cannot run the whole batch (baseline: false leaves "
                  "that out): {}",
                  error.what()));
}

Result answer(const Measured& measured, const Request& request, int ranks,
              std::optional<double> baseline_s) {
  const double batch = request.inputs.number("batch_size");
  const auto total_s = [](const Timing& timing) { return timing.total_s; };
  const auto waited_s = [](const Timing& timing) { return timing.waited_s; };
  const auto constant = [](double value) { return [value](const Timing&) { return value; }; };
  std::vector<TimingRatio> ratios{{"throughput", constant(batch), total_s},
                                  {"step_time", total_s, constant(1)},
                                  {"communication_share", waited_s, total_s}};
  if (baseline_s) {
    ratios.push_back({"speed_up", constant(*baseline_s), total_s});
    ratios.push_back({"efficiency", constant(*baseline_s / ranks), total_s});
  }
  Result result = ranked_result(measured.measurements, ratios, "step_time", request.repeats);
  if (!baseline_s)
    for (const char* name : {"speed_up", "efficiency"})
      result.notes[name] = "is measured with the setting baseline: true";
  else
    result.notes["baseline_throughput"] = batch / *baseline_s;
  result.notes["first_loss"] = measured.first_loss;
  result.notes["last_loss"] = measured.last_loss;
  if (!(measured.last_loss <= kDivergedLoss * measured.first_loss))
    result.notes["diverged"] = "the loss grew out of bounds; the times of the steps still count";
  return result;
}

Result measure(Communicator& communicator, const Request& request) try {
  const Inputs& in = request.inputs;
  const int ranks = communicator.size();
  if (in.integer("batch_size") < ranks)
    throw UsageError(fmt::format("batch_size = {} is less than one image for each of {} ranks",
                                 in.integer("batch_size"), ranks));
  std::optional<double> baseline_s;
  if (in.text("baseline") == "true") {
    if (communicator.rank() == 0) baseline_s = step_alone_s(communicator, request);
    communicator.barrier();
  }
  const Measured measured = learn(communicator, request);
  if (communicator.rank() != 0) return {};
  Result result = answer(measured, request, ranks, baseline_s);
  result.notes["engine"] = make_engine(in.text("device"))->description();
  return result;
} catch (const CannotRun& error) {
  throw Infeasible(error.what());
} catch (const NoDevice& error) {
  throw Infeasible(error.what());
}

Result run(const Request& request) {
  const bool gpus = resolve_device(request.inputs.text("device")) == "cuda";
  return run_ranked(request, gpus,
                    [&](Communicator& communicator) { return measure(communicator, request); });
}

}  // namespace

const Workload& train_data_parallel() {
  static const Workload workload{
      "train-data-parallel",
      "training of one network by several ranks, each with a part of the batch",
      "train-data-parallel --ranks 2 --network resnet-20 --batch_size 64 --bucket_mb 1",
      inputs(),
      responses(),
      run};
  return workload;
}

}  // namespace doetune::workloads
