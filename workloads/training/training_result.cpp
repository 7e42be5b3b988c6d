#include "workloads/training/training_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

namespace doetune::workloads {
namespace {

using Values = std::map<std::string, double>;

/// The first epoch that reached the target.
const Epoch* reached(const TrainingState& training, std::optional<double> target) {
  if (!target) return nullptr;
  const auto found = std::ranges::find_if(
      training.epochs, [&](const Epoch& epoch) { return epoch.accuracy >= *target; });
  return found == training.epochs.end() ? nullptr : &*found;
}

Values values_of(const TrainingState& training, int classes, std::optional<double> target) {
  Values values{{"time", training.time_s},
                {"images_per_second",
                 static_cast<double>(training.images) / (training.time_s - training.selection_s)},
                {"epochs_done", static_cast<double>(training.epochs.size())}};
  if (training.diverged_at_step) {
    values["accuracy"] = 100.0 / classes;
  } else {
    values["accuracy"] = training.epochs.back().accuracy;
    values["loss"] = training.epochs.back().loss;
    values["train_loss"] = training.epochs.back().train_loss;
  }
  if (const Epoch* epoch = reached(training, target)) {
    values["epochs_to_target"] = static_cast<double>(epoch - training.epochs.data() + 1);
    values["time_to_target"] = epoch->time_s;
  }
  return values;
}

void add_series(const TrainingState& training, Result& result) {
  for (const auto& [name, member] :
       {std::pair("epoch_accuracy", &Epoch::accuracy), std::pair("epoch_loss", &Epoch::loss),
        std::pair("epoch_train_loss", &Epoch::train_loss), std::pair("epoch_time", &Epoch::time_s)})
    for (const Epoch& epoch : training.epochs) result.series[name].push_back(epoch.*member);
}

void add_notes(const TrainingState& training, Result& result) {
  result.notes["steps"] = training.steps;
  result.notes["images_learnt_from"] = training.chosen.size();
  if (training.selection_s > 0) result.notes["selection_s"] = training.selection_s;
}

std::string why_missing(const std::string& response, bool diverged, bool has_target) {
  const bool of_target = response.ends_with("_to_target");
  if (of_target && !has_target) return "no target_accuracy was set";
  if (diverged) return "the loss diverged, see diverged_at_step";
  return "the target was not reached";
}

}  // namespace

std::vector<Response> training_responses() {
  return {
      {"accuracy", "%", "test images classified correctly, after the last epoch"},
      {"loss", "1", "mean cross-entropy of the test images, in nats"},
      {"train_loss", "1", "mean cross-entropy of the last epoch's steps, in nats"},
      {"time", "s", "time to train and select data, without evaluating and generating data"},
      {"images_per_second", "images/s", "images trained on per second of training"},
      {"epochs_done", "1", "epochs completed"},
      {"epochs_to_target", "1", "epochs until target_accuracy was reached"},
      {"time_to_target", "s", "time until target_accuracy was reached"},
  };
}

Result training_result(const std::vector<TrainingState>& trainings, int classes,
                       std::optional<double> target_accuracy) {
  Result result;
  bool diverged = false;
  for (const TrainingState& training : trainings) {
    for (const auto& [name, value] : values_of(training, classes, target_accuracy))
      result.repeats[name].push_back(value);
    if (!training.diverged_at_step) continue;
    diverged = true;
    result.notes["diverged_at_step"] = *training.diverged_at_step;
    result.notes["accuracy"] = "that of guessing, because the loss diverged";
  }
  for (const Response& response : training_responses()) {
    const std::vector<double>& values = result.repeats[response.name];
    if (values.size() == trainings.size()) {
      result.responses[response.name] =
          std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
    } else {
      result.repeats.erase(response.name);
      result.notes[response.name] =
          why_missing(response.name, diverged, target_accuracy.has_value());
    }
  }
  if (trainings.size() == 1) result.repeats.clear();
  std::int64_t resumed_after = 0;
  for (const TrainingState& training : trainings) resumed_after += training.resumed_after_epochs;
  if (resumed_after > 0) result.notes["resumed_after_epochs"] = resumed_after;
  add_series(trainings.back(), result);
  add_notes(trainings.back(), result);
  return result;
}

}  // namespace doetune::workloads
