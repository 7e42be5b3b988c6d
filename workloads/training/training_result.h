// What trainings were worth, as responses.
#pragma once

#include <optional>
#include <vector>

#include "workloads/protocol/protocol.h"
#include "workloads/training/trainer.h"

namespace doetune::workloads {

/// The responses that training gives.
std::vector<Response> training_responses();

/// The mean over repeats of one training each (at least one), single values beside it. Of the last
/// training there are series over its epochs, under names of their own (epoch_accuracy): a series
/// of a response's name would be single values of it, and judged for being steady. A training that
/// diverged counts with the accuracy of guessing and has no loss. A
/// response that a repeat lacks is left out, with a note. The note resumed_after_epochs counts the
/// epochs, of all repeats, that were trained before they were loaded.
Result training_result(const std::vector<TrainingState>& trainings, int classes,
                       std::optional<double> target_accuracy);

}  // namespace doetune::workloads
