// Checkpoints: a resumed training ends like an uninterrupted one, and damaged files are refused.
#include <catch2/catch.hpp>

#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <sstream>

#include "reference_trainable.h"
#include "two_gaussians.h"
#include "workloads/training/checkpoint.h"

namespace {

using namespace doetune;
using namespace doetune::workloads;
namespace fs = std::filesystem;
using Catch::Contains;

const TwoGaussians kCheckpointData(1.0, 0, 1000);
const TwoGaussians kCheckpointHeldOut(1.0, 1000, 200);
const Json kSettings{{"network", "linear"}, {"learning_rate", 0.05}};

struct CheckpointDirectory {
  fs::path path = fs::temp_directory_path() / ("doetune-checkpoint-" + std::to_string(getpid()));
  fs::path file = checkpoint_file(path, kSettings);
  CheckpointDirectory() { fs::create_directories(path); }
  ~CheckpointDirectory() { fs::remove_all(path); }
};

TrainingPlan plan() {
  TrainingPlan plan;
  plan.epochs = 6;
  plan.batch = 32;
  plan.data_size = 300;
  plan.rounds = 2;
  plan.augmentation = Augmentation::crop_flip;
  plan.learning_rate = {0.05, 4, 1};
  return plan;
}

/// A network with batch normalisation, so that there are running statistics.
ReferenceTrainable fresh(float dropout = 0) {
  const Network network = NetworkBuilder("small", {3, 4, 4})
                              .conv({2, {3, 3}, 1, {1, 1}, Activation::relu, true})
                              .dense(2, Activation::linear, dropout)
                              .build(ClassificationHead{2});
  return {network, {.batch = 32, .weight_decay = 1e-3F}, 9};
}

std::vector<float> blocks(ReferenceTrainable& network) {
  std::vector<float> all;
  for (const auto block : {network.parameters(), network.momentum_block(), network.statistics()})
    all.insert(all.end(), block.begin(), block.end());
  return all;
}

std::string read(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

void write(const fs::path& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary) << bytes;
}

/// Compares training in a new process for each epoch with training in one.
void check_resumption(float dropout) {
  const CheckpointDirectory scratch;
  ReferenceTrainable whole = fresh(dropout);
  Trainer uninterrupted(whole, kCheckpointData, kCheckpointHeldOut, plan());
  while (!uninterrupted.finished()) uninterrupted.run_epoch();

  TrainingState state;
  for (int epoch = 0; epoch < plan().epochs; ++epoch) {
    ReferenceTrainable part = fresh(dropout);
    const auto saved = load_checkpoint(scratch.file, kSettings, part);
    CHECK(saved.has_value() == (epoch > 0));
    if (saved) CHECK(saved->resumed_after_epochs == epoch);
    Trainer trainer(part, kCheckpointData, kCheckpointHeldOut, plan(),
                    saved.value_or(TrainingState{}));
    trainer.run_epoch();
    save_checkpoint(scratch.file, kSettings, trainer.state(), part);
    state = trainer.state();
    if (trainer.finished()) CHECK(blocks(part) == blocks(whole));
  }
  REQUIRE(state.epochs.size() == 6);
  CHECK(state.chosen == uninterrupted.state().chosen);
  CHECK(state.steps == uninterrupted.state().steps);
  CHECK(state.images == uninterrupted.state().images);
  for (std::size_t i = 0; i < 6; ++i) {
    CHECK(state.epochs[i].accuracy == uninterrupted.state().epochs[i].accuracy);
    CHECK(state.epochs[i].loss == uninterrupted.state().epochs[i].loss);
    CHECK(state.epochs[i].train_loss == uninterrupted.state().epochs[i].train_loss);
  }
  CHECK(std::distance(fs::directory_iterator(scratch.path), {}) == 1);
}

}  // namespace

TEST_CASE("a training that went on is the training that never stopped", "[training]") {
  check_resumption(0);
}

TEST_CASE("with dropout, too: it draws on where it was", "[training]") { check_resumption(0.5F); }

TEST_CASE("a checkpoint that does not fit on the disk is reported, and the one before it stays",
          "[training]") {
  const CheckpointDirectory scratch;
  ReferenceTrainable trainable = fresh();
  Trainer trainer(trainable, kCheckpointData, kCheckpointHeldOut, plan());
  trainer.run_epoch();
  save_checkpoint(scratch.file, kSettings, trainer.state(), trainable);
  const std::string before = read(scratch.file);
  trainer.run_epoch();
  rlimit unlimited{};
  getrlimit(RLIMIT_FSIZE, &unlimited);
  const rlimit full{before.size() / 2, unlimited.rlim_max};
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &full);
  CHECK_THROWS_WITH(save_checkpoint(scratch.file, kSettings, trainer.state(), trainable),
                    Contains("cannot write " + scratch.file.string()));
  setrlimit(RLIMIT_FSIZE, &unlimited);
  std::signal(SIGXFSZ, handler);
  CHECK(read(scratch.file) == before);
  CHECK(std::distance(fs::directory_iterator(scratch.path), {}) == 1);
  CHECK(load_checkpoint(scratch.file, kSettings, trainable)->epochs.size() == 1);
}

TEST_CASE("what a writer left that was killed goes with the next checkpoint", "[training]") {
  const CheckpointDirectory scratch;
  const fs::path left = scratch.file.string() + ".999999999.partial";  // no such PID: above 2^22
  write(left, "half of a checkpoint");
  ReferenceTrainable trainable = fresh();
  save_checkpoint(scratch.file, kSettings, {}, trainable);
  CHECK_FALSE(fs::exists(left));
  CHECK(fs::exists(scratch.file));
}

TEST_CASE("a checkpoint that is not whole is refused, by its name", "[training]") {
  const CheckpointDirectory scratch;
  ReferenceTrainable trainable = fresh();
  Trainer trainer(trainable, kCheckpointData, kCheckpointHeldOut, plan());
  trainer.run_epoch();
  save_checkpoint(scratch.file, kSettings, trainer.state(), trainable);
  const std::string whole = read(scratch.file);
  const auto load = [&] { load_checkpoint(scratch.file, kSettings, trainable); };
  load();
  for (const std::size_t length :
       {std::size_t{0}, std::size_t{23}, whole.size() / 2, whole.size() - 1}) {
    INFO(length);
    write(scratch.file, whole.substr(0, length));
    CHECK_THROWS_AS(load(), UsageError);
  }
  CHECK_THROWS_WITH(load(), Contains("truncated") && Contains(scratch.file.string()));
  for (std::size_t at = 0; at < whole.size(); at += 97) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 4);
    write(scratch.file, damaged);
    CHECK_THROWS_AS(load(), UsageError);
  }
}

TEST_CASE("other settings have another checkpoint, and a foreign one is refused", "[training]") {
  const CheckpointDirectory scratch;
  Json other = kSettings;
  other["learning_rate"] = 0.06;
  CHECK(checkpoint_file(scratch.path, other) != scratch.file);
  ReferenceTrainable trainable = fresh();
  save_checkpoint(scratch.file, other, {}, trainable);
  CHECK_THROWS_WITH(load_checkpoint(scratch.file, kSettings, trainable),
                    Contains("other settings"));
  ReferenceTrainable linear(linear_classifier(), {.batch = 32}, 1);
  CHECK_THROWS_WITH(load_checkpoint(scratch.file, other, linear), Contains("other settings"));
  CHECK_THROWS_WITH(save_checkpoint(scratch.path / "none" / "x", other, {}, trainable),
                    Contains("cannot write"));
}

TEST_CASE("a checkpoint of other data is refused", "[training]") {
  ReferenceTrainable trainable = fresh();
  TrainingState state;
  state.chosen = {0, 1, 1000};
  CHECK_THROWS_AS(Trainer(trainable, kCheckpointData, kCheckpointHeldOut, plan(), state),
                  std::invalid_argument);
}
