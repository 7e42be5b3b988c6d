#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>

#include "reference_training.h"
#include "training_cases.h"
#include "workloads/engines/training.h"
#include "workloads/networks/weights.h"
#include "workloads/random.h"

using namespace doetune::workloads;

namespace {

constexpr float kDecay = 1e-3F;
constexpr float kRate = 0.1F;

std::vector<double> doubles(std::span<const float> values) {
  return {values.begin(), values.end()};
}

/// Largest difference as a part of the largest expected value.
double difference(std::span<const float> actual, std::span<const double> expected) {
  double largest = 1e-12;
  double worst = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    largest = std::max(largest, std::abs(expected[i]));
    worst = std::max(worst, std::abs(double{actual[i]} - expected[i]));
  }
  return worst / largest;
}

/// Of a bf16 result: the length of the difference as a part of the length of what was expected.
/// Single elements may be far off where a small input's sign, and with it a ReLU, differs.
double distance(std::span<const float> actual, std::span<const double> expected) {
  double squares = 1e-24;
  double errors = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    squares += expected[i] * expected[i];
    errors += std::pow(double{actual[i]} - expected[i], 2);
  }
  return std::sqrt(errors / squares);
}

struct Session {
  Network network;
  TrainingData data;
  std::unique_ptr<TrainableNetwork> training;
};

Session session(const Network& network, const TrainingOptions& options, std::uint64_t seed) {
  Session made{network, training_data(network, options.batch, seed), nullptr};
  std::vector<float> statistics(statistics_count(network));
  initial_statistics(network, statistics);
  made.training = make_engine("cpu")->train(network, made.data.parameters, statistics, options);
  std::ranges::copy(made.data.images, made.training->input().begin());
  std::ranges::copy(made.data.labels, made.training->labels().begin());
  return made;
}

TrainingOptions options_of(int batch, Precision precision = Precision::fp32, int threads = 1) {
  return {.batch = batch,
          .precision = precision,
          .threads = threads,
          .momentum = 0.9F,
          .weight_decay = kDecay,
          .statistics_momentum = 0.1F};
}

/// What the reference makes of the first images of a session, from given parameters.
ReferencePass expected(const Session& session, std::span<const double> parameters, int images) {
  return reference_gradients(
      session.network, parameters,
      std::span(session.data.images).first(images * session.network.input.elements()),
      std::span(session.data.labels).first(images));
}

bool has_bf16() {
  const Network network = training_cases()[0].network;
  try {
    session(network, options_of(1, Precision::bf16), 1);
    return true;
  } catch (const CannotRun&) {
    WARN("bf16 is not tested: this CPU lacks it");
    return false;
  }
}

}  // namespace

TEST_CASE("gradients of every layer kind agree with the reference", "[training]") {
  for (const TrainingCase& each : training_cases())
    for (const int threads : {1, 2}) {
      const Session s = session(each.network, options_of(6, Precision::fp32, threads), 21);
      const BatchScore score = s.training->gradients(6);
      const ReferencePass pass = expected(s, doubles(s.data.parameters), 6);
      INFO(each.name << ", " << threads << " threads");
      CHECK(score.loss == Approx(pass.loss).epsilon(1e-5));
      CHECK(score.correct == pass.correct);
      CHECK(difference(s.training->logits(), pass.logits) < 1e-5);
      for (const ParameterTensor& tensor : parameter_layout(each.network)) {
        INFO("layer " << tensor.layer << ", kind " << static_cast<int>(tensor.kind));
        CHECK(difference(s.training->gradients_block().subspan(tensor.offset, tensor.count),
                         std::span(pass.gradients).subspan(tensor.offset, tensor.count)) < 1e-4);
      }
    }
}

TEST_CASE("bf16 gradients of every layer kind point where the reference's do", "[training]") {
  if (!has_bf16()) return;
  for (const TrainingCase& each : training_cases()) {
    const Session s = session(each.network, options_of(6, Precision::bf16), 21);
    const BatchScore score = s.training->gradients(6);
    const ReferencePass pass = expected(s, doubles(s.data.parameters), 6);
    INFO(each.name);
    CHECK(score.loss == Approx(pass.loss).epsilon(0.05));
    for (const ParameterTensor& tensor : parameter_layout(each.network)) {
      INFO("layer " << tensor.layer << ", kind " << static_cast<int>(tensor.kind));
      CHECK(distance(s.training->gradients_block().subspan(tensor.offset, tensor.count),
                     std::span(pass.gradients).subspan(tensor.offset, tensor.count)) < 0.2);
    }
  }
}
