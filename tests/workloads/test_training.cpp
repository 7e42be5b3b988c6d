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

// Every engine that trains is judged alike.
#ifndef DOETUNE_TEST_DEVICE
#define DOETUNE_TEST_DEVICE "cpu"
#endif
constexpr std::string_view kDevice = DOETUNE_TEST_DEVICE;

/// Says so where there is nothing to test on.
bool no_device() {
  try {
    return device_count(kDevice) == 0;
  } catch (const NoDevice& reason) {
    WARN("skipped: " << reason.what());
    return true;
  }
}

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
  made.training = make_engine(kDevice)->train(network, made.data.parameters, statistics, options);
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
ReferencePass expected(const Session& session, std::span<const double> parameters, int images,
                       const DropoutDraw& draw = {}) {
  return reference_gradients(
      session.network, parameters,
      std::span(session.data.images).first(images * session.network.input.elements()),
      std::span(session.data.labels).first(images), draw);
}

bool has_bf16() {
  const Network network = training_cases()[0].network;
  try {
    session(network, options_of(1, Precision::bf16), 1);
    return true;
  } catch (const CannotRun&) {
    WARN("bf16 is not tested: this device lacks it");
    return false;
  }
}

}  // namespace

TEST_CASE("gradients of every layer kind agree with the reference", "[training]") {
  if (no_device()) return;
  for (const TrainingCase& each : training_cases()) {
    const Session s = session(each.network, options_of(6), 21);
    const BatchScore score = s.training->gradients(6);
    const ReferencePass pass = expected(s, doubles(s.data.parameters), 6);
    INFO(each.name);
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

TEST_CASE("two threads work out the gradients of one", "[training]") {
  if (no_device()) return;
  const auto cases = training_cases();
  const Network network =
      std::ranges::find(cases, "a residual block with projection", &TrainingCase::name)->network;
  const Session one = session(network, options_of(6), 21);
  const Session two = session(network, options_of(6, Precision::fp32, 2), 21);
  one.training->gradients(6);
  two.training->gradients(6);
  CHECK(difference(two.training->gradients_block(), doubles(one.training->gradients_block())) <
        1e-5);
}

TEST_CASE("bf16 gradients of every layer kind point where the reference's do", "[training]") {
  if (no_device()) return;
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

TEST_CASE("several steps with momentum, decay and running statistics follow the reference",
          "[training]") {
  if (no_device()) return;
  for (const char* name : {"a residual block with projection", "two fully connected layers",
                           "dropout before fully connected layers"}) {
    const auto cases = training_cases();
    const Network network = std::ranges::find(cases, name, &TrainingCase::name)->network;
    const Session s = session(network, options_of(6), 5);
    std::vector<double> parameters = doubles(s.data.parameters);
    std::vector<double> momentum(parameters.size(), 0.0);
    std::vector<double> statistics = doubles(s.training->statistics());
    for (int step = 0; step < 4; ++step) {
      const ReferencePass pass = expected(s, parameters, 6, {.step = step});
      const BatchScore score = s.training->gradients(6);
      s.training->update(kRate);
      for (const ParameterTensor& tensor : parameter_layout(network))
        for (std::int64_t i = tensor.offset; i < tensor.offset + tensor.count; ++i) {
          const double decay = tensor.kind == ParameterKind::weights ? double{kDecay} : 0.0;
          momentum[i] = 0.9 * momentum[i] + pass.gradients[i] + decay * parameters[i];
          parameters[i] -= double{kRate} * momentum[i];
        }
      for (std::size_t i = 0; i < statistics.size(); ++i)
        statistics[i] = 0.9 * statistics[i] + 0.1 * pass.statistics[i];
      INFO(name << ", step " << step);
      CHECK(score.loss == Approx(pass.loss).epsilon(1e-4));
      // Rounding grows with each step through what is learned.
      CHECK(difference(s.training->parameters(), parameters) < 1e-4);
      CHECK(difference(s.training->momentum_block(), momentum) < 1e-3);
      CHECK(difference(s.training->statistics(), statistics) < 1e-4);
    }
  }
}

TEST_CASE("evaluation uses the running statistics, as the reference does", "[training]") {
  if (no_device()) return;
  for (const TrainingCase& each : training_cases()) {
    const Session s = session(each.network, options_of(6), 9);
    for (int step = 0; step < 3; ++step) {
      s.training->gradients(6);
      s.training->update(kRate);
    }
    const auto statistics = doubles(s.training->statistics());
    for (const int images : {6, 2}) {
      const ReferencePass pass =
          reference_evaluate(each.network, doubles(s.training->parameters()), statistics,
                             std::span(s.data.images).first(images * each.network.input.elements()),
                             std::span(s.data.labels).first(images));
      const BatchScore score = s.training->evaluate(images);
      INFO(each.name << ", " << images << " images");
      CHECK(score.loss == Approx(pass.loss).epsilon(1e-4));
      CHECK(score.correct == pass.correct);
      CHECK(difference(s.training->logits(), pass.logits) < 1e-4);
    }
    CHECK(doubles(s.training->statistics()) == statistics);
  }
}

TEST_CASE("what was learned runs on the inference engine", "[training]") {
  if (no_device()) return;
  const Network network = with_classes(make_network("resnet-20", 16), 10);
  const Session s = session(network, options_of(4), 13);
  s.training->gradients(4);
  s.training->update(kRate);
  s.training->evaluate(4);
  const auto folded = folded_weights(network, s.training->parameters(), s.training->statistics());
  const auto compiled = make_engine(kDevice)->compile(network, folded, {.batch = 4});
  std::ranges::copy(s.data.images, compiled->input().begin());
  compiled->infer(4);
  // The GPU normalises with the running statistics as they are; they are not folded first.
  CHECK(difference(compiled->output(), doubles(s.training->logits())) <
        (kDevice == "cpu" ? 1e-6 : 1e-4));
}

TEST_CASE("parameters that were written between steps are learned from", "[training]") {
  if (no_device()) return;
  const Network network = training_cases()[0].network;
  const Session s = session(network, options_of(6), 5);
  s.training->evaluate(6);
  const TrainingData other = training_data(network, 6, 77);
  std::ranges::copy(other.parameters, s.training->parameters().begin());
  s.training->changed();
  const auto block = doubles(other.parameters);
  const ReferencePass now = reference_evaluate(network, block, doubles(s.training->statistics()),
                                               s.data.images, s.data.labels);
  CHECK(s.training->evaluate(6).loss == Approx(now.loss).epsilon(1e-5));
  CHECK(s.training->gradients(6).loss == Approx(expected(s, block, 6).loss).epsilon(1e-5));
}

TEST_CASE("smaller batches, in any order, have their own gradients", "[training]") {
  if (no_device()) return;
  const Network network = training_cases()[0].network;
  const Session s = session(network, options_of(6), 31);
  for (const int images : {2, 6, 5, 2}) {
    s.training->gradients(images);
    INFO(images << " images");
    CHECK(difference(s.training->gradients_block(),
                     expected(s, doubles(s.data.parameters), images).gradients) < 1e-4);
  }
}

TEST_CASE("gradients are told ready from the back to the front, with their last values",
          "[training]") {
  if (no_device()) return;
  const Network network = with_classes(make_network("resnet-20", 8), 10);
  const Session s = session(network, options_of(4), 17);
  const std::span<float> block = s.training->gradients_block();
  std::vector<std::int64_t> offsets{std::ssize(block)};
  std::vector<float> seen(block.size());
  s.training->gradients(4, [&](std::int64_t offset) {
    CHECK(offset < offsets.back());
    std::copy(block.begin() + offset, block.begin() + offsets.back(), seen.begin() + offset);
    offsets.push_back(offset);
  });
  CHECK(offsets.back() == 0);
  if (kDevice == "cpu")
    CHECK(offsets.size() == 1 + 22);  // once a convolution, and the fully connected layer
  else
    CHECK(offsets.size() > 4);
  CHECK(std::ranges::equal(seen, block));
}

TEST_CASE("along the gradient a whole network's loss changes by the gradient's length squared",
          "[training]") {
  if (no_device()) return;
  struct Whole {
    const char* name;
    int size;
  };
  for (const auto& [name, size] :
       {Whole{"resnet-18", 16}, Whole{"googlenet", 32}, Whole{"inception-v3", 75}}) {
    constexpr int kBatch = 12;
    const Session s = session(with_classes(make_network(name, size), 10), options_of(kBatch), 3);
    const std::span<float> block = s.training->parameters();
    initial_parameters(s.network, 3, block);
    s.training->changed();
    const auto start = doubles(block);
    const auto loss = s.training->gradients(kBatch).loss;
    const auto gradient = doubles(s.training->gradients_block());
    double squares = 0;
    for (const double g : gradient) squares += g * g;
    // A change of the loss far above fp32's rounding, which deep normalised networks amplify, and
    // nearly linear: the second derivative drops out.
    const double step = 1e-2 * loss / squares;
    const auto loss_at = [&](double along) {
      for (std::size_t i = 0; i < block.size(); ++i)
        block[i] = static_cast<float>(start[i] + along * gradient[i]);
      s.training->changed();
      return s.training->gradients(kBatch).loss;
    };
    INFO(name);
    CHECK((loss_at(step) - loss_at(-step)) / (2 * step) == Approx(squares).epsilon(0.05));
  }
}

TEST_CASE("a residual network learns a small problem by heart", "[training]") {
  if (no_device()) return;
  std::vector<Precision> precisions{Precision::fp32};
  if (has_bf16()) precisions.push_back(Precision::bf16);
  for (const Precision precision : precisions) {
    constexpr int kBatch = 16;
    const Network network = with_classes(make_network("resnet-20", 8), 4);
    std::vector<float> block(parameters(network));
    std::vector<float> statistics(statistics_count(network));
    initial_parameters(network, 3, block);
    initial_statistics(network, statistics);
    const auto training =
        make_engine(kDevice)->train(network, block, statistics, options_of(kBatch, precision));
    // Each class is a colour under noise.
    const auto input = training->input();
    const auto elements = network.input.elements();
    for (int image = 0; image < kBatch; ++image) {
      training->labels()[image] = image % 4;
      for (std::int64_t i = 0; i < elements; ++i)
        input[image * elements + i] =
            random_unit(7, image * elements + i) + (i % 3 == image % 4 ? 1.0F : 0.0F);
    }
    const double first = training->gradients(kBatch).loss;
    training->update(0.05F);
    for (int step = 0; step < 40; ++step) {
      training->gradients(kBatch);
      training->update(0.05F);
    }
    const BatchScore last = training->gradients(kBatch);
    INFO("precision " << name_of(precision));
    CHECK(first > 1.0);  // about log 4
    CHECK(last.loss < 0.1);
    CHECK(last.correct == kBatch);
  }
}

TEST_CASE("training refuses what it cannot do", "[training]") {
  if (no_device()) return;
  const Session s = session(training_cases()[0].network, options_of(2), 1);
  CHECK_THROWS_AS(s.training->gradients(3), std::invalid_argument);
  CHECK_THROWS_AS(s.training->evaluate(0), std::invalid_argument);
  s.training->labels()[1] = 5;
  CHECK_THROWS_WITH(s.training->gradients(2), Catch::Contains("outside 0..4"));
  CHECK_NOTHROW(s.training->gradients(1));
  CHECK_THROWS_WITH(session(s.network, options_of(2, Precision::fp16), 1), Catch::Contains("fp16"));
  CHECK_THROWS_WITH(session(make_network("tiny-yolov2", 32), options_of(1), 1),
                    Catch::Contains("no classifier"));
}
