// Teaches a network a data set: epochs, learning rates, growth of the data, what is measured.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "workloads/data/augmentation.h"
#include "workloads/data/data_set.h"
#include "workloads/engines/training.h"
#include "workloads/training/learning_rate.h"

namespace doetune::workloads {

struct TrainingPlan {
  int epochs = 1;
  int batch = 1;  // images in a step; what is left over at an epoch's end waits for the next
  std::int64_t data_size = 1;  // images to learn from, in the end
  LearningRate learning_rate;
  Augmentation augmentation = Augmentation::none;
  int rounds = 0;  // in which the data grow by what the network is least sure of
  std::optional<double> target_accuracy = {};  // %: training ends where it is reached
  int threads = 1;                             // that make data
  std::uint64_t seed = 1;                      // of data order, choice and augmentation
};

/// What is known after an epoch.
struct Epoch {
  double accuracy;    // % of held-out images
  double loss;        // of held-out images
  double train_loss;  // mean over the epoch's steps
  double time_s;      // of training so far, with what choosing data took, without judging
};

/// Where training is; with the network's own blocks, all that it takes to go on.
struct TrainingState {
  std::vector<std::int64_t> chosen;  // indices of the data that are learnt from
  std::vector<Epoch> epochs;
  std::int64_t steps = 0;
  std::int64_t images = 0;
  double time_s = 0;
  double selection_s = 0;                             // part of it
  std::optional<std::int64_t> diverged_at_step = {};  // steps done before it
  std::int64_t resumed_after_epochs = 0;              // those done before it was loaded
};

/// A loss above this many times that of guessing, log(classes), has diverged, as has one that is
/// not a number.
inline constexpr double kDivergedLoss = 100;

/// Trains with one thread that makes batches ahead. What is learnt depends on the plan, the
/// network's state, and the engine's rounding alone.
class Trainer {
 public:
  /// The network must hold plan.batch images; `state` is empty or of an earlier training by the
  /// same plan.
  Trainer(TrainableNetwork& network, const DataSet& data, const DataSet& held_out,
          const TrainingPlan& plan, TrainingState state = {});

  /// One epoch and its judgement; only while not finished().
  void run_epoch();
  /// All epochs are done, the loss has diverged, or the target is reached.
  bool finished() const;
  const TrainingState& state() const { return state_; }

 private:
  bool diverged(double loss);
  void grow();
  std::vector<std::int64_t> min_sure(const DataSet& data,
                                     const std::vector<std::int64_t>& candidates,
                                     std::size_t count);
  double train(int epoch);
  BatchScore evaluate(const DataSet& data, const std::function<void(int images)>& each = {});

  TrainableNetwork& network_;
  const DataSet& data_;
  const DataSet& held_out_;
  const TrainingPlan plan_;
  TrainingState state_;
  std::optional<ResidentImages> learnt_from_;
};

/// Images that the data have grown to in an epoch: plan.data_size (round + 1) / (rounds + 1), the
/// epochs being shared out among the rounds as evenly as may be.
std::int64_t data_size_at(const TrainingPlan& plan, int epoch);

/// Difference between the two largest softmax probabilities: the smaller, the less sure. Source:
/// Scheffer, Decomain & Wrobel (2001).
double margin(std::span<const float> logits);

}  // namespace doetune::workloads
