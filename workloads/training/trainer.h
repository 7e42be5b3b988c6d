// The training loop: epochs, learning rates, growth of the data set, evaluation.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "workloads/data/augmentation.h"
#include "workloads/data/batch_loader.h"
#include "workloads/data/data_set.h"
#include "workloads/engines/training.h"
#include "workloads/training/learning_rate.h"

namespace doetune::workloads {

struct TrainingPlan {
  int epochs = 1;
  int batch = 1;               // images per step; the remainder of an epoch is left out
  std::int64_t data_size = 1;  // final number of training images
  LearningRate learning_rate;
  Augmentation augmentation = Augmentation::none;
  int rounds = 0;  // in which the data grow by the images of lowest margin
  std::optional<double> target_accuracy = {};  // %: training ends when it is reached
  int threads = 1;                             // for loading the data set
  int readers = 1;                             // threads that make batches
  std::uint64_t seed = 1;                      // for data order, selection and augmentation
};

/// The results of an epoch.
struct Epoch {
  double accuracy;    // % of held-out images
  double loss;        // of held-out images
  double train_loss;  // mean over the epoch's steps
  double time_s;      // of training so far, data selection included, evaluation excluded
};

/// The state of a training; complete together with the network's own blocks.
struct TrainingState {
  std::vector<std::int64_t> chosen;  // indices of the training data
  std::vector<Epoch> epochs;
  std::int64_t steps = 0;
  std::int64_t images = 0;
  double time_s = 0;
  double selection_s = 0;                             // the part spent on data selection
  std::optional<std::int64_t> diverged_at_step = {};  // steps before it
  std::int64_t resumed_after_epochs = 0;              // those before the checkpoint was loaded
};

/// A loss above this multiple of the loss of random guessing, log(classes), counts as diverged, as
/// does NaN.
inline constexpr double kDivergedLoss = 100;

/// Trains with threads that prefetch batches; a batch is given to the network while the device
/// computes the one before. The outcome depends only on the plan, the network's state and the
/// engine's rounding, not on the number of threads.
class Trainer {
 public:
  /// The network must support plan.batch images; `state` is empty or from an earlier training by
  /// the same plan.
  Trainer(TrainableNetwork& network, const DataSet& data, const DataSet& held_out,
          const TrainingPlan& plan, TrainingState state = {});

  /// One epoch and its evaluation; only while not finished().
  void run_epoch();
  /// Whether all epochs are done, the loss has diverged, or the target is reached.
  bool finished() const;
  const TrainingState& state() const { return state_; }

 private:
  bool diverged(double loss);
  void grow();
  std::vector<std::int64_t> min_sure(const DataSet& data,
                                     const std::vector<std::int64_t>& candidates,
                                     std::size_t count);
  /// Called with the images and the score of each batch; whether to go on.
  using Each = std::function<bool(int images, const BatchScore& score)>;
  void pass_over(BatchLoader& loader, std::int64_t batches, TrainableNetwork::Pass pass,
                 const Each& each);
  double train(int epoch);
  BatchScore evaluate(const DataSet& data, const std::function<void(int images)>& each = {});

  TrainableNetwork& network_;
  const DataSet& data_;
  const DataSet& held_out_;
  const TrainingPlan plan_;
  TrainingState state_;
  std::optional<ResidentImages> learnt_from_;
};

/// The number of training images in an epoch: plan.data_size (round + 1) / (rounds + 1), with the
/// epochs divided among the rounds as evenly as possible.
std::int64_t data_size_at(const TrainingPlan& plan, int epoch);

/// Difference between the two largest softmax probabilities: the smaller, the less certain. Source:
/// Scheffer, Decomain & Wrobel (2001).
double margin(std::span<const float> logits);

}  // namespace doetune::workloads
