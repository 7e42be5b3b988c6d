// The responses of train-classifier from its trainings.
#pragma once

#include <optional>
#include <vector>

#include "workloads/protocol/protocol.h"
#include "workloads/training/trainer.h"

namespace doetune::workloads {

/// The responses of a training.
std::vector<Response> training_responses();

/// The mean over repeats of one training each (at least one), and the single values. The series are
/// over the epochs of the last training, under names of their own (epoch_accuracy): a series under
/// a response's name would be taken for its single values, and assessed for steadiness. A training
/// that diverged counts with the accuracy of random guessing and has no loss. A response that a
/// repeat lacks is omitted, with a note. The note resumed_after_epochs counts the epochs, over all
/// repeats, that were loaded from checkpoints.
Result training_result(const std::vector<TrainingState>& trainings, int classes,
                       std::optional<double> target_accuracy);

}  // namespace doetune::workloads
