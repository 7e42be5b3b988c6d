// The workload `train-classifier`: trains an image classifier on CIFAR-100 or generated images, and
// evaluates it on held-out images after each epoch.
//
// All random choices (initial weights, selection and order of data, augmentation) depend on the
// run's seed; the data themselves do not, so that all runs of a study have the same task.
#include "workloads/workloads.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iostream>
#include <memory>

#include "base/clock.h"
#include "base/random.h"
#include "workloads/data/cifar100.h"
#include "workloads/data/generated_images.h"
#include "workloads/protocol/progress.h"
#include "workloads/shared_inputs.h"
#include "workloads/timing/measured.h"
#include "workloads/timing/stopping_rule.h"
#include "workloads/training/checkpoint.h"
#include "workloads/training/training_result.h"

namespace doetune::workloads {
namespace {

constexpr std::int64_t kTrainImages = 50'000;
constexpr std::int64_t kTestImages = 10'000;
constexpr std::uint64_t kDataSeed = 1;
constexpr int kMaxReaders = 8;  // each has a batch in progress

std::vector<Input> learning_inputs() {
  using enum InputKind;
  return {
      {"epochs", integer, 10, "passes over the data", "", 1, 10000},
      {"batch_size", integer, 64, "images per step", "", 1, 8192},
      {"learning_rate", continuous, 0.05, "learning rate of stochastic gradient descent", "", 1e-8,
       1e6},
      {"lr_step", integer, nullptr,
       "epochs after which the learning rate is divided by 10; default: never", "", 1, 10000},
      {"warmup_epochs", continuous, 0.0, "epochs over which the learning rate rises from 0", "", 0,
       10000},
      {"momentum", continuous, 0.9,
       "momentum: the fraction of the last step that is added to the next", "", 0, 0.9999},
      {"weight_decay", continuous, 1e-4, "weight decay, without biases and normalisations", "", 0,
       1},
      {"target_accuracy", continuous, nullptr, "training stops when it is reached; default: none",
       "%", 0, 100},
  };
}

std::vector<Input> data_inputs() {
  using enum InputKind;
  return {
      {"data", text, "generated", "'generated', or the directory of CIFAR-100's binary files"},
      categories("classes", {"20", "100"}, "superclasses, or fine classes"),
      {"data_size", integer, 10000, "training images, of 50,000", "", 1, 50000},
      categories("selection", {"random", "uncertainty"},
                 "which images: drawn at random, or extended in rounds by those the network is "
                 "least certain about"),
      {"rounds", integer, 4, "number of rounds with selection uncertainty", "", 1, 1000},
      categories("augmentation", {"none", "crop", "crop-flip"},
                 "augmentation of training images: shifts by up to 4 pixels, and mirror images"),
      {"test_size", integer, 2000, "test images, of 10,000", "", 1, 10000},
  };
}

std::vector<Input> train_classifier_inputs() {
  using enum InputKind;
  std::vector<Input> all{
      categories("network", {"small-cnn", "resnet-20", "resnet-18"}, "the network to train")};
  std::ranges::move(learning_inputs(), std::back_inserter(all));
  std::ranges::move(data_inputs(), std::back_inserter(all));
  all.push_back(precision_input("number format of weights and activations"));
  all.push_back(device_input("device to train on"));
  all.push_back({"threads", integer, nullptr, "CPU threads; default: one per core", "", 1, 1024});
  all.push_back({"checkpoint", text, nullptr,
                 "a directory where each run keeps checkpoints, to resume after an interruption"});
  return all;
}

struct Data {
  std::unique_ptr<DataSet> train;
  std::unique_ptr<DataSet> held_out;
};

Data data_of(const Inputs& in, int threads) {
  const int classes = std::stoi(in.text("classes"));
  const std::string name = in.text("data");
  Data data;
  std::unique_ptr<DataSet> test;
  if (name == "generated") {
    data.train = std::make_unique<GeneratedImages>(classes, kDataSeed, 0, kTrainImages);
    test = std::make_unique<GeneratedImages>(classes, kDataSeed, kTrainImages, kTestImages);
  } else {
    data.train = std::make_unique<Cifar100>(name, Cifar100::Part::train, classes);
    test = std::make_unique<Cifar100>(name, Cifar100::Part::test, classes);
  }
  // The same for all seeds, so that all runs are evaluated on the same images.
  auto assessed = random_order(test->count(), kDataSeed);
  assessed.resize(static_cast<std::size_t>(in.integer("test_size")));
  data.held_out = std::make_unique<ResidentImages>(Subset(*test, assessed), threads);
  return data;
}

TrainingPlan plan_of(const Inputs& in, int threads, std::string_view device) {
  TrainingPlan plan;
  plan.epochs = in.integer("epochs");
  plan.batch = in.integer("batch_size");
  plan.data_size = in.integer("data_size");
  plan.learning_rate.base = in.number("learning_rate");
  if (in.has("lr_step")) plan.learning_rate.lr_step = in.integer("lr_step");
  plan.learning_rate.warmup_epochs = in.number("warmup_epochs");
  plan.augmentation = augmentation_named(in.text("augmentation"));
  if (in.text("selection") == "uncertainty") plan.rounds = in.integer("rounds");
  if (in.has("target_accuracy")) plan.target_accuracy = in.number("target_accuracy");
  plan.threads = threads;
  // On a CPU more of them would take time from the step.
  if (device != "cpu") plan.readers = std::min(threads, kMaxReaders);
  return plan;
}

void check(const TrainingPlan& plan) {
  if (plan.rounds >= plan.epochs)
    throw UsageError(fmt::format("{} rounds of selection need at least {} epochs, not {}",
                                 plan.rounds, plan.rounds + 1, plan.epochs));
  if (data_size_at(plan, 0) < plan.batch)
    throw UsageError(fmt::format(
        "batch_size = {} is above the {} images that training starts with (data_size{})",
        plan.batch, data_size_at(plan, 0), plan.rounds > 0 ? " / (rounds + 1)" : ""));
}

/// All that the outcome of the training and its timing depend on.
Json settings_of(const Inputs& in, std::uint64_t seed, std::string_view device) {
  Json settings{{"seed", seed}, {"device", device}};
  for (const Input& input : train_classifier_inputs())
    if (input.name != "checkpoint" && input.name != "device" && in.has(input.name))
      settings[input.name] = input.kind == InputKind::integer || input.kind == InputKind::continuous
                                 ? Json(in.number(input.name))
                                 : Json(in.text(input.name));
  return settings;
}

/// An untrained network.
std::unique_ptr<TrainableNetwork> network_of(const Inputs& in, const TrainingPlan& plan,
                                             Engine& engine) {
  const Network network =
      with_classes(make_network(in.text("network"), 32), std::stoi(in.text("classes")));
  const InitialState start = initial_state(network, plan.seed);
  TrainingOptions options;
  options.batch = plan.batch;
  options.seed = plan.seed;
  options.precision = precision_named(in.text("precision"));
  options.threads = plan.threads;
  options.momentum = static_cast<float>(in.number("momentum"));
  options.weight_decay = static_cast<float>(in.number("weight_decay"));
  return engine.train(network, start.parameters, start.statistics, options);
}

/// Stores the checkpoints of a training.
class Keeper {
 public:
  Keeper(const Inputs& in, std::uint64_t seed, std::string_view device) {
    if (!in.has("checkpoint")) return;
    const std::filesystem::path directory = in.text("checkpoint");
    std::error_code error;
    std::filesystem::create_directories(directory, error);
    if (!std::filesystem::is_directory(directory))
      throw UsageError("checkpoint: cannot make the directory " + directory.string());
    settings_ = settings_of(in, seed, device);
    file_ = checkpoint_file(directory, settings_);
  }

  TrainingState load(TrainableNetwork& network) const {
    if (file_.empty()) return {};
    const auto state = load_checkpoint(file_, settings_, network);
    if (state)
      std::cerr << "resuming after epoch " << state->epochs.size() << " from " << file_.string()
                << std::endl;
    return state.value_or(TrainingState{});
  }
  void save(const TrainingState& state, TrainableNetwork& network) const {
    if (!file_.empty()) save_checkpoint(file_, settings_, state, network);
  }
  bool has_begun() const { return !file_.empty() && std::filesystem::exists(file_); }
  /// Removes the checkpoint; whether there was one.
  bool forget() const {
    std::error_code ignored;
    return !file_.empty() && std::filesystem::remove(file_, ignored);
  }

 private:
  std::filesystem::path file_;
  Json settings_;
};

/// The time limit for further repeats.
struct TimeLeft {
  double deadline_s;  // of the steady clock
  double longest_s;   // duration of the longest training
};

/// What the last epoch reached is the estimate of what the training will.
void report_epoch(const TrainingState& state) {
  if (state.epochs.empty() || state.diverged_at_step) return;
  const Epoch& epoch = state.epochs.back();
  report_progress(
      static_cast<double>(state.epochs.size()),
      {{"accuracy", epoch.accuracy}, {"loss", epoch.loss}, {"train_loss", epoch.train_loss}});
}

/// Empty where the training would not end in time: it is not started if it would take as long as
/// the longest one so far, nor is an epoch if it would take as long as the previous one.
std::optional<TrainingState> train(const Inputs& in, const TrainingPlan& plan, const Data& data,
                                   Engine& engine, const Keeper& keeper, const TimeLeft& left) {
  if (!keeper.has_begun() && monotonic_s() + left.longest_s > left.deadline_s) return std::nullopt;
  const auto network = network_of(in, plan, engine);
  Trainer trainer(*network, *data.train, *data.held_out, plan, keeper.load(*network));
  for (double took_s = left.longest_s / plan.epochs; !trainer.finished();) {
    const double began_s = monotonic_s();
    if (began_s + took_s > left.deadline_s) return std::nullopt;
    trainer.run_epoch();
    keeper.save(trainer.state(), *network);
    report_epoch(trainer.state());
    took_s = monotonic_s() - began_s;
  }
  return trainer.state();
}

/// At least one training, and further ones as the time limit allows.
std::vector<TrainingState> train_all(const Request& request, TrainingPlan plan, const Data& data,
                                     Engine& engine, std::string_view device, double deadline_s) {
  const auto seed_of = [&](int repeat) {
    return repeat == 0 ? request.seed
                       : random_bits(request.seed, static_cast<std::uint64_t>(repeat));
  };
  const auto keeper_of = [&](int repeat) {
    return Keeper(request.inputs, seed_of(repeat), device);
  };
  std::vector<TrainingState> trainings;
  for (TimeLeft left{INFINITY, 0}; std::ssize(trainings) < request.repeats;) {
    const double began_s = monotonic_s();
    const auto repeat = static_cast<int>(trainings.size());
    plan.seed = seed_of(repeat);
    auto training = train(request.inputs, plan, data, engine, keeper_of(repeat), left);
    if (!training) break;
    // Part of it may have been done by an earlier process.
    left = {deadline_s, std::max({left.longest_s, monotonic_s() - began_s, training->time_s})};
    trainings.push_back(std::move(*training));
  }
  // All repeats are complete: delete the checkpoints, so that a repeated run starts anew.
  for (int repeat = 0; repeat < request.repeats && keeper_of(repeat).forget();) ++repeat;
  return trainings;
}

Result run_train_classifier(const Request& request) {
  const Clock::time_point begin = Clock::now();
  const Inputs& in = request.inputs;
  const int threads = threads_of(request);
  const std::string_view device = resolve_device(in.text("device"));
  const TrainingPlan plan = plan_of(in, threads, device);
  check(plan);
  const auto engine = make_engine(device);
  const Data data = data_of(in, threads);
  const double start_s = monotonic_s();
  const auto trainings = train_all(request, plan, data, *engine, device,
                                   deadline_s(request, begin).value_or(INFINITY));
  Result result = training_result(trainings, std::stoi(in.text("classes")), plan.target_accuracy);
  result.window = {start_s, monotonic_s()};
  note_repeats(trainings.size(), request.repeats, result);
  result.notes["engine"] = engine->description();
  result.notes["threads"] = threads;
  return result;
}

}  // namespace

const Workload& train_classifier_workload() {
  static const Workload workload{
      "train-classifier",
      "training of an image classifier: accuracy and time, depending on data and hyperparameters",
      "train-classifier --epochs 3 --data_size 2000 --batch_size 32 --learning_rate 0.05",
      train_classifier_inputs(),
      training_responses(),
      run_train_classifier};
  return workload;
}

}  // namespace doetune::workloads
