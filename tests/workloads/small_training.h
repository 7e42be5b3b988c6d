// Short trainings of a linear classifier on the double-precision reference, a tenth of a second
// each.
#pragma once

#include <cmath>
#include <vector>

#include "reference_trainable.h"
#include "two_gaussians.h"
#include "workloads/training/trainer.h"

namespace doetune::workloads {

inline const TwoGaussians kData(1.0, 0, 4000);
inline const TwoGaussians kHeldOut(1.0, 4000, 1000);

/// Standard deviation of an accuracy (%) near the optimum over the held-out images: 1.16.
inline const double kScatter =
    std::sqrt(kHeldOut.best_accuracy() * (100 - kHeldOut.best_accuracy()) / 1000);

inline TrainingPlan plan_of(int epochs, int batch, std::int64_t data_size, double rate) {
  TrainingPlan plan;
  plan.epochs = epochs;
  plan.batch = batch;
  plan.data_size = data_size;
  plan.learning_rate.base = rate;
  return plan;
}

struct Outcome {
  TrainingState state;
  std::vector<float> parameters;
  double accuracy() const { return state.epochs.back().accuracy; }
  double loss() const { return state.epochs.back().loss; }
  double train_loss() const { return state.epochs.back().train_loss; }
};

inline Outcome trained(const TrainingPlan& plan, const DataSet& data = kData,
                       const DataSet& held_out = kHeldOut, TrainingOptions options = {}) {
  options.batch = plan.batch;
  ReferenceTrainable network(linear_classifier(), options, plan.seed);
  Trainer trainer(network, data, held_out, plan);
  while (!trainer.finished()) trainer.run_epoch();
  const auto learnt = network.parameters();
  return {trainer.state(), {learnt.begin(), learnt.end()}};
}

}  // namespace doetune::workloads
