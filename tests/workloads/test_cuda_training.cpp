// Training on a GPU: what is not covered by the tests common to all engines (test_training.cpp).
#include <catch2/catch.hpp>

#include <algorithm>

#include "gpu_or_skip.h"
#include "training_cases.h"
#include "workloads/engines/training.h"

using namespace doetune;
using namespace doetune::workloads;

namespace {

bool no_training_gpu() { return skipped_without("cuda"); }

constexpr float kTrainingRate = 0.05F;

std::unique_ptr<TrainableNetwork> training(const Network& network, const TrainingOptions& options) {
  const TrainingData data = training_data(network, options.batch, 3);
  std::vector<float> statistics(statistics_count(network));
  initial_statistics(network, statistics);
  auto made = make_engine("cuda")->train(network, data.parameters, statistics, options);
  std::ranges::copy(data.images, made->input().begin());
  std::ranges::copy(data.labels, made->labels().begin());
  return made;
}

std::vector<float> copied(std::span<const float> values) { return {values.begin(), values.end()}; }

}  // namespace

TEST_CASE("gradients that stay on the GPU train the network like those that do not", "[cuda]") {
  if (no_training_gpu()) return;
  const Network network = with_classes(make_network("resnet-20", 16), 10);
  TrainingOptions options{.batch = 8, .precision = Precision::bf16};
  const auto host = training(network, options);
  options.gradients_on_device = true;
  const auto device = training(network, options);
  REQUIRE(device->gradients_block().size() == static_cast<std::size_t>(parameters(network)));
  for (int step = 0; step < 3; ++step) {
    host->gradients(8);
    host->update(kTrainingRate);
    std::vector<std::int64_t> offsets;
    device->gradients(8, [&](std::int64_t offset) { offsets.push_back(offset); });
    device->changed();
    device->update(kTrainingRate);
    CHECK(offsets.back() == 0);
  }
  CHECK(copied(device->parameters()) == copied(host->parameters()));
}

TEST_CASE("a step in parts on the GPU computes what a step in one piece does", "[cuda]") {
  if (no_training_gpu()) return;
  const Network network = with_classes(make_network("resnet-20", 16), 10);
  const auto whole = training(network, {.batch = 8});
  const auto parts = training(network, {.batch = 8});
  const double loss = whole->gradients(8).loss;
  CHECK(parts->gradients(8, [](std::int64_t) {}).loss == loss);
  CHECK(copied(parts->gradients_block()) == copied(whole->gradients_block()));
  CHECK(copied(parts->statistics()) == copied(whole->statistics()));
}

TEST_CASE("evaluation between gradients and update changes neither on the GPU", "[cuda]") {
  if (no_training_gpu()) return;
  const Network network = with_classes(make_network("resnet-20", 16), 10);
  const auto assessed = training(network, {.batch = 8});
  const auto plain = training(network, {.batch = 8});
  assessed->gradients(8);
  assessed->evaluate(8);
  assessed->evaluate(3);
  plain->gradients(8);
  for (const auto& each : {assessed.get(), plain.get()}) each->update(kTrainingRate);
  CHECK(copied(assessed->parameters()) == copied(plain->parameters()));
  CHECK(copied(assessed->statistics()) == copied(plain->statistics()));
}

TEST_CASE("what was fetched from the GPU before a step is not written back after it", "[cuda]") {
  if (no_training_gpu()) return;
  const Network network = with_classes(make_network("resnet-20", 16), 10);
  const auto fetched = training(network, {.batch = 8});
  const auto plain = training(network, {.batch = 8});
  fetched->parameters();
  fetched->momentum_block();
  for (const auto& each : {fetched.get(), plain.get()}) {
    each->gradients(8);
    each->update(kTrainingRate);
    each->changed();
  }
  CHECK(copied(fetched->parameters()) == copied(plain->parameters()));
}

TEST_CASE("too little GPU memory for a training is reported in bytes", "[cuda]") {
  if (no_training_gpu()) return;
  try {
    training(make_network("resnet-152", 224), {.batch = 1500});
    FAIL("it fits");
  } catch (const CannotRun& error) {
    CHECK_THAT(error.what(), Catch::Contains("bytes") && Catch::Contains("are free"));
  }
}
