// The training loop on the double-precision reference, compared with results from statistics and
// arithmetic.
#include <catch2/catch.hpp>

#include <cmath>
#include <set>

#include "small_training.h"

using namespace doetune;
using namespace doetune::workloads;

TEST_CASE("training reaches the best accuracy that there is, and not more", "[training]") {
  const Outcome outcome = trained(plan_of(10, 50, 4000, 0.01));
  CHECK(outcome.accuracy() < kHeldOut.best_accuracy() + 3.5 * kScatter);
  CHECK(outcome.accuracy() > kHeldOut.best_accuracy() - 1 - 3.5 * kScatter);
  CHECK(outcome.state.epochs.size() == 10);
  CHECK(outcome.state.steps == 800);
  CHECK(outcome.state.images == 40000);
  // The minimum loss is that of the true log-odds, 2 distance x: 0.3563 nats by numerical
  // integration.
  CHECK(outcome.state.epochs.back().loss == Approx(0.3563).margin(0.05));
}

TEST_CASE("the seed fixes the parameters, the number of threads does not matter", "[training]") {
  TrainingPlan plan = plan_of(3, 32, 500, 0.02);
  plan.rounds = 2;
  plan.augmentation = Augmentation::crop_flip;
  const Outcome first = trained(plan);
  plan.threads = 3;
  plan.readers = 3;
  CHECK(trained(plan).parameters == first.parameters);
  plan.seed = 2;
  CHECK(trained(plan).parameters != first.parameters);
}

TEST_CASE("a loss that diverges is an outcome with its step", "[training]") {
  const Outcome outcome = trained(plan_of(5, 50, 1000, 1e30));
  REQUIRE(outcome.state.diverged_at_step);
  CHECK(*outcome.state.diverged_at_step >= 1);
  CHECK(*outcome.state.diverged_at_step <= 3);
  CHECK(outcome.state.epochs.empty());
}

TEST_CASE("training ends where the target is reached", "[training]") {
  TrainingPlan plan = plan_of(50, 50, 1000, 0.02);
  plan.target_accuracy = 75;
  const Outcome outcome = trained(plan);
  CHECK(outcome.state.epochs.size() < 50);
  CHECK(outcome.accuracy() >= 75);
  for (std::size_t i = 0; i + 1 < outcome.state.epochs.size(); ++i)
    CHECK(outcome.state.epochs[i].accuracy < 75);
}

TEST_CASE("the learning rate rises linearly, then falls tenfold by steps", "[training]") {
  const LearningRate rate{0.4, 3, 2};
  CHECK(rate.at(0, 0, 10) == Approx(0.02));  // step 1 of 20
  CHECK(rate.at(1, 8, 10) == Approx(0.38));
  CHECK(rate.at(1, 9, 10) == Approx(0.4));
  CHECK(rate.at(2, 9, 10) == Approx(0.4));
  CHECK(rate.at(3, 0, 10) == Approx(0.04));
  CHECK(rate.at(5, 9, 10) == Approx(0.04));
  CHECK(rate.at(6, 0, 10) == Approx(0.004));
  CHECK(LearningRate{0.4}.at(0, 0, 10) == Approx(0.4));
  // Where the data grow in the second epoch, the rate continues to rise.
  CHECK(rate.at(1, 0, 40) == Approx(0.205));
}

TEST_CASE("the margin is the difference of the two largest probabilities", "[training]") {
  const std::vector<float> quarters{std::log(4.0F), std::log(3.0F), std::log(1.0F)};  // 4/8, 3/8
  CHECK(margin(quarters) == Approx(1.0 / 8));
  CHECK(margin(std::vector<float>{0, 0, 0, 0}) == Approx(0).margin(1e-12));
  CHECK(margin(std::vector<float>{-300, 500}) == Approx(1));
  CHECK(margin(std::vector<float>{std::log(1.0F), std::log(9.0F)}) == Approx(0.8));
}

TEST_CASE("data grow in equal parts over the epochs, to their full size", "[training]") {
  TrainingPlan plan = plan_of(10, 1, 1000, 0.1);
  CHECK(data_size_at(plan, 0) == 1000);
  plan.rounds = 4;
  const std::vector<std::int64_t> sizes{200, 200, 400, 400, 600, 600, 800, 800, 1000, 1000};
  for (int epoch = 0; epoch < 10; ++epoch)
    CHECK(data_size_at(plan, epoch) == sizes[static_cast<std::size_t>(epoch)]);
  plan.epochs = 5;
  CHECK(data_size_at(plan, 4) == 1000);
}

TEST_CASE("what the network is least sure of is added: images at the border of the classes",
          "[training]") {
  TrainingPlan plan = plan_of(20, 50, 1000, 0.02);
  plan.rounds = 1;
  const Outcome outcome = trained(plan);
  REQUIRE(outcome.state.chosen.size() == 1000);
  CHECK(std::set<std::int64_t>(outcome.state.chosen.begin(), outcome.state.chosen.end()).size() ==
        1000);
  const auto mean_distance = [&](std::size_t first, std::size_t last) {
    double sum = 0;
    std::vector<float> image(48);
    for (std::size_t i = first; i < last; ++i) {
      kData.fill(outcome.state.chosen[i], image);
      sum += std::abs(image[0]);
    }
    return sum / static_cast<double>(last - first);
  };
  // Over random images the mean of |x| is 1.17 (a folded normal of mean 1). Over the quarter
  // nearest to the border it would be 0.25 if the network had found the border exactly.
  CHECK(mean_distance(0, 500) == Approx(1.17).margin(0.12));
  CHECK(mean_distance(500, 1000) < 0.7);
  CHECK(outcome.state.selection_s > 0);
}

TEST_CASE("a selection that takes all candidates ends with all the data", "[training]") {
  const TwoGaussians few(1.0, 0, 90);
  TrainingPlan plan = plan_of(3, 10, 90, 0.02);
  plan.rounds = 2;
  const Outcome outcome = trained(plan, few);
  CHECK(std::set<std::int64_t>(outcome.state.chosen.begin(), outcome.state.chosen.end()).size() ==
        90);
}
