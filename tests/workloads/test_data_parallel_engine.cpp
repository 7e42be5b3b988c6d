// Data-parallel training on the CPU engine compared with one process on the joint batch.
#include <catch2/catch.hpp>

#include <cmath>

#include "base/random.h"
#include "tests/workloads/ranks.h"
#include "tests/workloads/relative_difference.h"
#include "workloads/communication/data_parallel.h"

using namespace doetune;
using namespace doetune::workloads;
using test::relative_difference;

namespace {

constexpr int kEngineBatch = 6;
constexpr int kEngineSteps = 4;

/// Without batch normalisation, whose statistics would be per rank.
const Network& network() {
  static const Network made = make_network("small-cnn", 32);
  return made;
}

void fill(TrainableNetwork& trainable, int step, BatchShare share) {
  const auto elements = static_cast<std::size_t>(network().input.elements());
  for (int i = 0; i < share.count; ++i) {
    const auto image = static_cast<std::size_t>(step * kEngineBatch + share.first + i);
    for (std::size_t e = 0; e < elements; ++e)
      trainable.input()[static_cast<std::size_t>(i) * elements + e] =
          4 * random_unit(5, image * elements + e) - 2;
    trainable.labels()[i] = static_cast<std::int32_t>(random_bits(6, image) % 100);
  }
}

/// Each rank's parameters after the steps.
std::vector<std::vector<float>> train(int ranks, Precision precision = Precision::fp32) {
  std::vector<std::vector<float>> results(ranks);
  const auto thrown = test::run_ranks(ranks, [&](Communicator& communicator) {
    std::vector<float> start(static_cast<std::size_t>(parameters(network())));
    initial_parameters(network(), 3, start);
    const auto trainable = make_engine("cpu")->train(
        network(), start, {}, {.batch = kEngineBatch, .precision = precision});
    DataParallel parallel(communicator, *trainable, {.bucket = 5000});
    for (int step = 0; step < kEngineSteps; ++step) {
      fill(*trainable, step, batch_share(kEngineBatch, communicator.rank(), ranks));
      parallel.step(kEngineBatch, 0.05F);
    }
    results[communicator.rank()].assign(trainable->parameters().begin(),
                                        trainable->parameters().end());
  });
  for (const std::string& what : thrown) CHECK(what == "");
  return results;
}

}  // namespace

TEST_CASE("on the CPU engine ranks learn what one process learns from the joined batch",
          "[data_parallel]") {
  const auto alone = train(1)[0];
  for (const int ranks : {2, 4}) {
    CAPTURE(ranks);
    const auto together = train(ranks);
    CHECK(relative_difference(together[0], alone) < 1e-6);  // fp32 rounds by 6e-8
    for (const auto& parameters : together) CHECK(parameters == together[0]);
  }
}

TEST_CASE("buckets on the CPU engine begin before its backward pass ends", "[data_parallel]") {
  const auto trainable = [&] {
    std::vector<float> start(static_cast<std::size_t>(parameters(network())));
    initial_parameters(network(), 3, start);
    return make_engine("cpu")->train(network(), start, {}, {.batch = kEngineBatch});
  }();
  fill(*trainable, 0, {0, kEngineBatch});
  std::vector<std::int64_t> offsets;
  trainable->gradients(kEngineBatch, [&](std::int64_t offset) { offsets.push_back(offset); });
  REQUIRE(offsets.size() > 1);
  CHECK(std::ranges::is_sorted(offsets, std::greater()));
  CHECK(offsets.front() < parameters(network()));
  CHECK(offsets.back() == 0);
}
