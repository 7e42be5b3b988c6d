// The responses of trainings, compared with results computed by hand.
#include <catch2/catch.hpp>

#include "workloads/training/training_result.h"

namespace {

using namespace doetune;
using namespace doetune::workloads;

/// Two epochs of 100 images in 1 s each, the second after 0.5 s of data selection.
TrainingState training(double first_accuracy, double last_accuracy) {
  TrainingState state;
  state.chosen = {1, 2, 3};
  state.epochs = {{first_accuracy, 2.0, 2.1, 1.0}, {last_accuracy, 1.0, 1.1, 2.5}};
  state.steps = 20;
  state.images = 200;
  state.time_s = 2.5;
  state.selection_s = 0.5;
  return state;
}

}  // namespace

TEST_CASE("responses are those of the last epoch, rates those of the steps", "[training]") {
  const Result result = training_result({training(40, 60)}, 20, 50.0);
  CHECK(result.responses.at("accuracy") == 60);
  CHECK(result.responses.at("loss") == 1.0);
  CHECK(result.responses.at("train_loss") == 1.1);
  CHECK(result.responses.at("time") == 2.5);
  CHECK(result.responses.at("images_per_second") == Approx(100));
  CHECK(result.responses.at("epochs_to_target") == 2);
  CHECK(result.responses.at("time_to_target") == 2.5);
  CHECK(result.series.at("epoch_accuracy") == std::vector<double>{40, 60});
  CHECK(result.series.at("epoch_time") == std::vector<double>{1.0, 2.5});
  CHECK(result.repeats.empty());
}

TEST_CASE("what changes from epoch to epoch is no series of a response", "[training]") {
  // Otherwise the runner would assess the series for steadiness, and flag every run that learns.
  const Result result = training_result({training(40, 60)}, 20, std::nullopt);
  CHECK(result.series.size() == 4);
  for (const Response& response : training_responses())
    CHECK(result.series.count(response.name) == 0);
}

TEST_CASE("repeats are averaged, and what one of them lacks is left out with a note",
          "[training]") {
  TrainingState diverged;
  diverged.steps = 7;
  diverged.images = 70;
  diverged.time_s = 0.7;
  diverged.diverged_at_step = 7;
  const Result result = training_result({training(40, 60), diverged}, 20, 70.0);
  CHECK(result.responses.at("accuracy") == Approx((60 + 5) / 2.0));  // 5 %: chance level
  CHECK(result.repeats.at("accuracy") == std::vector<double>{60, 5});
  CHECK(result.notes["diverged_at_step"] == 7);
  for (const char* missing : {"loss", "train_loss", "epochs_to_target", "time_to_target"}) {
    CHECK(result.responses.count(missing) == 0);
    CHECK(result.repeats.count(missing) == 0);
    CHECK(result.notes.contains(missing));
  }
}

TEST_CASE("epochs that an earlier process trained are noted, of all repeats", "[training]") {
  TrainingState whole = training(40, 60), part = training(30, 50);
  CHECK_FALSE(training_result({whole, part}, 20, {}).notes.contains("resumed_after_epochs"));
  whole.resumed_after_epochs = 2;
  part.resumed_after_epochs = 1;
  CHECK(training_result({whole, part}, 20, {}).notes["resumed_after_epochs"] == 3);
  CHECK(training_result({part}, 20, {}).notes["resumed_after_epochs"] == 1);
}

TEST_CASE("a target that was not reached or not set is said", "[training]") {
  CHECK(training_result({training(40, 60)}, 20, 61.0).notes["time_to_target"] ==
        "the target was not reached");
  CHECK(training_result({training(40, 60)}, 20, std::nullopt).notes["time_to_target"] ==
        "no target_accuracy was set");
}
