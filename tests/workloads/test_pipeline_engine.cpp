// Stages on the CPU engine, alone and as a pipeline of ranks, compared with the whole network.
#include <catch2/catch.hpp>

#include <cmath>

#include "tests/workloads/ranks.h"
#include "tests/workloads/relative_difference.h"
#include "tests/workloads/training_cases.h"
#include "workloads/communication/pipeline.h"
#include "workloads/networks/stages.h"

using namespace doetune;
using namespace doetune::workloads;
using test::relative_difference;

namespace {

template <class T>
std::span<const T> part(const std::vector<T>& all, std::int64_t first, std::int64_t count) {
  return std::span(all).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
}

std::unique_ptr<TrainableStage> stage_on_cpu(const NetworkStage& stage,
                                             const std::vector<float>& start,
                                             const std::vector<float>& statistics,
                                             TrainingOptions options, int slots) {
  options.first_layer = stage.first_layer;
  return make_engine("cpu")->train_stage(
      stage.network, part(start, stage.first_parameter, parameters(stage.network)),
      part(statistics, stage.first_statistic, statistics_count(stage.network)), options, slots);
}

std::vector<float> first_statistics(const Network& network) {
  std::vector<float> statistics(static_cast<std::size_t>(statistics_count(network)));
  initial_statistics(network, statistics);
  return statistics;
}

int max_stages(const Network& network) {
  for (int stages = 1;; ++stages) try {
      network_stages(network, stages + 1);
    } catch (const std::invalid_argument&) {
      return stages;
    }
}

/// The gradients of all stages, and the loss; the test itself passes the tensors between stages.
std::pair<std::vector<float>, double> by_stages(const Network& network, int count,
                                                const TrainingData& data, int images) {
  std::vector<std::unique_ptr<TrainableStage>> stages;
  for (const NetworkStage& stage : network_stages(network, count))
    stages.push_back(
        stage_on_cpu(stage, data.parameters, first_statistics(network), {.batch = images}, 1));
  std::ranges::copy(data.images, stages.front()->input(0).begin());
  std::ranges::copy(data.labels, stages.back()->labels(0).begin());
  for (std::size_t s = 0; s < stages.size(); ++s) {
    if (s > 0) std::ranges::copy(stages[s - 1]->output(0), stages[s]->input(0).begin());
    stages[s]->forward(0, images, 0);
  }
  double loss = 0;
  for (std::size_t s = stages.size(); s-- > 0;) {
    if (s + 1 < stages.size())
      std::ranges::copy(stages[s + 1]->input_gradient(0), stages[s]->output_gradient(0).begin());
    loss += stages[s]->backward(0).loss;
  }
  std::vector<float> gradients;
  for (const auto& stage : stages) {
    const auto block = stage->gradients_block();
    gradients.insert(gradients.end(), block.begin(), block.end());
  }
  return {gradients, loss};
}

constexpr int kPipelineBatch = 7;  // not a multiple of the micro-batches
constexpr int kPipelineSteps = 3;

/// Without batch normalisation, whose statistics would be per micro-batch; with dropout, which must
/// not depend on the rank that draws it.
Network plain_network() {
  NetworkBuilder net("plain", {3, 12, 12});
  const Convolution conv{16, {3, 3}, 1, {1, 1}, Activation::relu, false};
  net.conv(conv).max_pool(2, 2);
  for (int block = 0; block < 2; ++block) {
    const int in = net.last();
    Convolution linear = conv;
    linear.activation = Activation::linear;
    net.conv(conv).conv(linear).sum(in, net.last());
  }
  net.global_average_pool().dense(10, Activation::linear, /*dropout=*/0.5F);
  return net.build(ClassificationHead{10});
}

std::vector<float> alone(const Network& network) {
  TrainingData data = training_data(network, kPipelineBatch, 3);
  const auto trainable = make_engine("cpu")->train(
      network, data.parameters, {}, {.batch = kPipelineBatch, .weight_decay = 1e-3F});
  for (int step = 0; step < kPipelineSteps; ++step) {
    data = training_data(network, kPipelineBatch, 10 + static_cast<std::uint64_t>(step));
    std::ranges::copy(data.images, trainable->input().begin());
    std::ranges::copy(data.labels, trainable->labels().begin());
    trainable->gradients(kPipelineBatch);
    trainable->update(0.05F);
  }
  return {trainable->parameters().begin(), trainable->parameters().end()};
}

std::vector<float> by_pipeline(const Network& network, int ranks, const PipelineOptions& options) {
  const auto stages = network_stages(network, ranks);
  std::vector<std::vector<float>> parameters(static_cast<std::size_t>(ranks));
  const auto thrown = test::run_ranks(ranks, [&](Communicator& communicator) {
    const auto rank = static_cast<std::size_t>(communicator.rank());
    const auto stage =
        stage_on_cpu(stages[rank], training_data(network, kPipelineBatch, 3).parameters, {},
                     {.batch = largest_micro_batch(options), .weight_decay = 1e-3F},
                     pipeline_slots(communicator.rank(), ranks, options));
    PipelineOfStages pipeline(communicator, *stage, options);
    for (int step = 0; step < kPipelineSteps; ++step) {
      const auto data =
          training_data(network, kPipelineBatch, 10 + static_cast<std::uint64_t>(step));
      pipeline.step(data.images, data.labels, 0.05F);
    }
    parameters[rank].assign(stage->parameters().begin(), stage->parameters().end());
  });
  for (const std::string& what : thrown) CHECK(what == "");
  std::vector<float> all;
  for (const auto& part : parameters) all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace

TEST_CASE("the gradients of stages are the network's, wherever it is cut", "[pipeline]") {
  constexpr int kImages = 5;
  for (const TrainingCase& each : training_cases()) {
    const TrainingData data = training_data(each.network, kImages, 11);
    const auto whole = make_engine("cpu")->train(
        each.network, data.parameters, first_statistics(each.network), {.batch = kImages});
    std::ranges::copy(data.images, whole->input().begin());
    std::ranges::copy(data.labels, whole->labels().begin());
    const double loss = whole->gradients(kImages).loss;
    for (int count = 1; count <= max_stages(each.network); ++count) {
      CAPTURE(each.name, count);
      const auto [gradients, its_loss] = by_stages(each.network, count, data, kImages);
      CHECK(its_loss == Approx(loss).epsilon(1e-6));
      CHECK(relative_difference(gradients, whole->gradients_block()) < 1e-5);
    }
  }
}

TEST_CASE("a pipeline of ranks learns what one process learns from the whole batch", "[pipeline]") {
  const Network network = plain_network();
  const auto expected = alone(network);
  for (const int ranks : {1, 2, 4})
    for (const int micro_batches : {1, 3, 7}) {
      CAPTURE(ranks, micro_batches);
      const auto parameters = by_pipeline(network, ranks, {kPipelineBatch, micro_batches});
      CHECK(relative_difference(parameters, expected) < 1e-6);  // fp32 rounds by 6e-8
    }
}

TEST_CASE("bf16 between stages changes the parameters by no more than its rounding", "[pipeline]") {
  const Network network = plain_network();
  const auto expected = alone(network);
  const auto parameters = by_pipeline(network, 2, {kPipelineBatch, 3, CommunicationType::bf16});
  const double difference = relative_difference(parameters, expected);
  CHECK(difference > 1e-7);
  CHECK(difference < 0.01);  // rounded by 2^-9; the weights move by a fraction of themselves
}

TEST_CASE("a stage refuses labels that are no classes, and images that it has no room for",
          "[pipeline]") {
  const Network network = plain_network();
  const auto start = training_data(network, 1, 3).parameters;
  const auto stages = network_stages(network, 2);
  const auto last = stage_on_cpu(stages[1], start, {}, {.batch = 2}, 1);
  CHECK_THROWS_AS(last->forward(0, 3, 0), std::invalid_argument);
  CHECK_THROWS_AS(last->forward(0, 0, 0), std::invalid_argument);
  last->forward(0, 2, 0);
  last->labels(0)[1] = 10;
  CHECK_THROWS_AS(last->backward(0), std::invalid_argument);
}
