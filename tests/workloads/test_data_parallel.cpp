// Training on several ranks compared with training on one, and the underlying gradient sums.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>

#include "base/random.h"
#include "tests/workloads/ranks.h"
#include "tests/workloads/reference_trainable.h"
#include "workloads/communication/data_parallel.h"

using namespace doetune;
using namespace doetune::workloads;

namespace {

/// Gradients that become final as the test directs.
class FakeTrainable final : public TrainableNetwork {
 public:
  explicit FakeTrainable(std::span<float> gradients)
      : parameters_(gradients.size()), gradients_(gradients) {}

  std::vector<std::int64_t> offsets;  // reported in this order
  float gradient = 0;
  bool listened = false;  // whether a callback was given

  std::span<float> input() override { return {}; }
  std::span<std::int32_t> labels() override { return {}; }
  BatchScore gradients(int, const GradientsReady& ready) override {
    listened = static_cast<bool>(ready);
    std::size_t end = gradients_.size();
    for (const std::int64_t offset : offsets) {
      for (auto i = static_cast<std::size_t>(offset); i < end; ++i)
        gradients_[i] = gradient * static_cast<float>(i % 100);
      end = static_cast<std::size_t>(offset);
      if (ready) ready(offset);
    }
    return {gradient, 0};
  }
  void update(float rate) override {
    for (std::size_t i = 0; i < parameters_.size(); ++i) parameters_[i] -= rate * gradients_[i];
  }
  BatchScore evaluate(int) override { return {}; }
  std::span<const float> logits() override { return {}; }
  std::span<float> parameters() override { return parameters_; }
  std::span<float> gradients_block() override { return gradients_; }
  std::span<float> momentum_block() override { return {}; }
  std::span<float> statistics() override { return {}; }
  void changed() override {}

 private:
  std::vector<float> parameters_;
  std::span<float> gradients_;
};

/// Starts sums at once and records them.
class Recorder final : public Communicator {
 public:
  using Communicator::Communicator;
  std::vector<Bucket> started;
  const float* base = nullptr;
  Ticket start_all_reduce(std::span<float> values, CommunicationType, float) override {
    const std::int64_t begin = values.data() - base;
    started.push_back({begin, begin + static_cast<std::int64_t>(values.size())});
    return static_cast<Ticket>(started.size());
  }
  void wait(Ticket ticket) override { CHECK(ticket == static_cast<Ticket>(started.size())); }
  void send(std::span<const float>, int, CommunicationType) override {}
  std::future<std::vector<float>> receive(std::size_t, int, CommunicationType) override {
    return {};
  }
  std::string_view name() const override { return "recorder"; }
  void end_all(int) const override {}
};

Network small_network() {
  NetworkBuilder net("small", {3, 6, 6});
  net.conv({5, {3, 3}, 1, {1, 1}, Activation::relu, false});
  net.max_pool(2, 2);
  return net.dense(4, Activation::linear).build(ClassificationHead{4});
}

constexpr int kBatch = 7;  // not a multiple of the ranks
constexpr int kSteps = 6;

/// Loads images [share] of the batch of a step.
void fill(TrainableNetwork& network, int step, BatchShare share) {
  const std::size_t elements = 3 * 6 * 6;
  for (int i = 0; i < share.count; ++i) {
    const int image = step * kBatch + share.first + i;
    for (std::size_t e = 0; e < elements; ++e)
      network.input()[i * elements + e] = random_unit(5, image * elements + e) - 0.5F;
    network.labels()[i] = static_cast<std::int32_t>(random_bits(6, image) % 4);
  }
}

/// Every rank's parameters after some steps; ranks start with different ones.
std::vector<std::vector<float>> train(int ranks, const DataParallelOptions& options = {}) {
  std::vector<std::vector<float>> results(ranks);
  const auto thrown = test::run_ranks(ranks, [&](Communicator& communicator) {
    TrainingOptions training{.batch = kBatch, .momentum = 0.9F, .weight_decay = 1e-3F};
    ReferenceTrainable network(small_network(), training, 1 + communicator.rank());
    DataParallel parallel(communicator, network, options);
    for (int step = 0; step < kSteps; ++step) {
      fill(network, step, batch_share(kBatch, communicator.rank(), ranks));
      parallel.step(kBatch, 0.1F);
    }
    results[communicator.rank()].assign(network.parameters().begin(), network.parameters().end());
  });
  for (const std::string& what : thrown) CHECK(what == "");
  return results;
}

double largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    largest = std::max(largest, static_cast<double>(std::abs(a[i] - b[i])));
  return largest;
}

}  // namespace

TEST_CASE("buckets cover the block from its back, the first one small", "[data_parallel]") {
  CHECK(make_buckets(10, 4, 2) == std::vector<Bucket>{{8, 10}, {4, 8}, {0, 4}});
  CHECK(make_buckets(23, 6, 4) == std::vector<Bucket>{{16, 23}, {8, 16}, {0, 8}});
  CHECK(make_buckets(1, 100, 100) == std::vector<Bucket>{{0, 1}});
  CHECK(make_buckets(0, 4, 2).empty());
  CHECK_THROWS_AS(make_buckets(10, 0, 1), std::invalid_argument);
  for (std::int64_t count = 1; count < 40; ++count)
    for (std::int64_t size = 1; size < 12; ++size) {
      std::int64_t end = count;
      for (const Bucket& bucket : make_buckets(count, size, 1 + size / 2)) {
        REQUIRE(bucket.end == end);
        REQUIRE(bucket.begin < bucket.end);
        REQUIRE(bucket.begin % 4 == 0);
        REQUIRE(bucket.end - bucket.begin <= size + 3);
        end = bucket.begin;
      }
      REQUIRE(end == 0);
    }
}

TEST_CASE("a bucket's sum begins when its last gradient is final, not before", "[data_parallel]") {
  const std::int64_t first = kFirstBucket, size = 2 * kFirstBucket, count = 4 * kFirstBucket;
  Recorder recorder(Rank{});
  std::vector<float> gradients(static_cast<std::size_t>(count));
  recorder.base = gradients.data();
  GradientSum sum(recorder, gradients, size, CommunicationType::fp32);
  for (int step = 0; step < 2; ++step) {
    recorder.started.clear();
    sum.begin(1);
    sum.ready(count - first + 1);
    CHECK(recorder.started.empty());
    sum.ready(count - first);
    CHECK(recorder.started.size() == 1);
    sum.ready(count - first);  // nothing new
    CHECK(recorder.started.size() == 1);
    CHECK_THROWS_AS(sum.wait(), std::logic_error);
    sum.ready(0);
    CHECK(recorder.started == make_buckets(count, size, first));
    sum.wait();
  }
}

TEST_CASE("every gradient is summed once, however the backward pass reports it",
          "[data_parallel]") {
  const auto seed = GENERATE(range(1, 6));
  const std::size_t count = 3000;
  const auto thrown = test::run_ranks(3, [&](Communicator& communicator) {
    std::vector<float> gradients(count);
    FakeTrainable network(gradients);
    for (std::int64_t at = count; at > 0;
         at -= 1 + static_cast<std::int64_t>(random_bits(seed, at) % 700))
      network.offsets.push_back(at);
    network.offsets.push_back(0);
    network.gradient = static_cast<float>(communicator.rank() + 1);
    DataParallel parallel(communicator, network, {.bucket = 64 * seed});
    parallel.step(3, 1.0F);  // mean of gradients 1, 2 and 3
    for (std::size_t i = 0; i < count; ++i)
      if (std::abs(network.parameters()[i] + 2.0F * static_cast<float>(i % 100)) > 1e-4F)
        throw std::runtime_error("gradient " + std::to_string(i));
  });
  for (const std::string& what : thrown) CHECK(what == "");
}

TEST_CASE("one rank alone sums nothing and is asked for its gradients only at the end",
          "[data_parallel]") {
  Recorder recorder(Rank{});
  std::vector<float> gradients(1000);
  FakeTrainable network(gradients);
  network.gradient = 1;
  network.offsets = {0};
  DataParallel parallel(recorder, network, {});
  CHECK_FALSE(network.listened);
  parallel.step(4, 0.5F);
  CHECK(recorder.started.empty());
  CHECK_FALSE(network.listened);
  CHECK(network.parameters()[99] == -0.5F * 99);
}

TEST_CASE("shares of a batch join to the batch", "[data_parallel]") {
  for (int batch = 1; batch < 30; ++batch)
    for (int ranks = 1; ranks <= batch; ++ranks) {
      int next = 0;
      for (int rank = 0; rank < ranks; ++rank) {
        const BatchShare share = batch_share(batch, rank, ranks);
        REQUIRE(share.first == next);
        REQUIRE(share.count >= batch / ranks);
        REQUIRE(share.count <= batch / ranks + 1);
        next += share.count;
      }
      REQUIRE(next == batch);
    }
}

TEST_CASE("ranks learn what one process learns from the joined batch, to rounding",
          "[data_parallel]") {
  const auto alone = train(1)[0];
  for (const int ranks : {2, 4}) {
    CAPTURE(ranks);
    const auto together = train(ranks, {.bucket = 100});
    CHECK(largest_difference(together[0], alone) < 2e-6);  // parameters up to 1, gradients in fp32
    for (const auto& parameters : together) CHECK(parameters == together[0]);
  }
}

TEST_CASE("bf16 sums change the parameters by no more than their rounding", "[data_parallel]") {
  const auto exact = train(2)[0];
  const auto rounded = train(2, {.type = CommunicationType::bf16});
  CHECK(largest_difference(rounded[0], exact) > 0);
  CHECK(largest_difference(rounded[0], exact) < 0.02);
  CHECK(rounded[0] == rounded[1]);
}
