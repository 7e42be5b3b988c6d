#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>

#include "base/random.h"
#include "reference_training.h"
#include "training_session.h"
#include "workloads/engines/training.h"
#include "workloads/networks/weights.h"

using namespace doetune;
using namespace doetune::workloads;

namespace {

constexpr float kRate = 0.1F;

/// The reference's results for the first images of a session, from given parameters.
ReferencePass expected(const Session& session, std::span<const double> parameters, int images,
                       const DropoutDraw& draw = {}) {
  return reference_gradients(
      session.network, parameters,
      std::span(session.data.images).first(images * session.network.input.elements()),
      std::span(session.data.labels).first(images), draw);
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
  for (const char* name : {"stride, flat kernel, bias and ReLU", "branches that join",
                           "a residual block with projection"}) {
    const Network network = std::ranges::find(cases, name, &TrainingCase::name)->network;
    const Session one = session(network, options_of(6), 21);
    const Session two = session(network, options_of(6, Precision::fp32, 2), 21);
    // The images of an even batch are divided among our threads; an odd one is left to oneDNN's
    // threads.
    for (const int images : {6, 5}) {
      INFO(name << ", " << images << " images");
      one.training->gradients(images);
      two.training->gradients(images);
      CHECK(difference(two.training->gradients_block(), doubles(one.training->gradients_block())) <
            1e-5);
    }
  }
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
      // Rounding errors grow with each step, through the trained parameters.
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

TEST_CASE("trained parameters run on the inference engine", "[training]") {
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
  // The GPU normalises with the running statistics directly, without folding.
  CHECK(difference(compiled->output(), doubles(s.training->logits())) <
        (kDevice == "cpu" ? 1e-6 : 1e-4));
}

TEST_CASE("a training that is taken over draws the dropout that would have come", "[training]") {
  if (no_device()) return;
  const auto cases = training_cases();
  const Network network =
      std::ranges::find(cases, "dropout before fully connected layers", &TrainingCase::name)
          ->network;
  const auto steps = [](TrainableNetwork& training, int count) {
    for (int step = 0; step < count; ++step) {
      training.gradients(6);
      training.update(kRate);
    }
  };
  const Session whole = session(network, options_of(6), 5);
  steps(*whole.training, 4);
  const Session first = session(network, options_of(6), 5);
  steps(*first.training, 2);
  const auto taken_over = [&](std::int64_t updates) {
    const Session second = session(network, options_of(6), 5);
    std::ranges::copy(first.training->parameters(), second.training->parameters().begin());
    std::ranges::copy(first.training->momentum_block(), second.training->momentum_block().begin());
    std::ranges::copy(first.training->statistics(), second.training->statistics().begin());
    second.training->changed();
    second.training->continue_after(updates);
    steps(*second.training, 2);
    return std::ranges::equal(second.training->parameters(), whole.training->parameters());
  };
  CHECK(taken_over(2));
  CHECK_FALSE(taken_over(0));
}

TEST_CASE("parameters that were written between steps are used by the next step", "[training]") {
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

TEST_CASE("a batch may be given while the one before is computed", "[training]") {
  if (no_device()) return;
  using enum TrainableNetwork::Pass;
  const auto cases = training_cases();
  const Network network =
      std::ranges::find(cases, "a residual block with projection", &TrainingCase::name)->network;
  TrainingOptions options = options_of(5);
  options.input_memory = GENERATE(HostMemory::pinned, HostMemory::pageable);
  const Session ahead = session(network, options, 41);
  const Session plain = session(network, options, 41);
  const auto classes = static_cast<std::size_t>(network.output().channels);
  struct Step {
    TrainingData batch;
    int images;
    TrainableNetwork::Pass pass;
  };
  std::vector<Step> steps;
  for (const auto& [images, pass] : std::vector<std::pair<int, TrainableNetwork::Pass>>{
           {5, gradients}, {3, gradients}, {5, evaluation}, {5, gradients}, {4, evaluation}})
    steps.push_back({training_data(network, images, 50 + steps.size()), images, pass});
  const auto load = [&](const Step& step) {
    ahead.training->load(step.batch.images, step.batch.labels);
  };
  load(steps.back());  // replaced before it is used
  load(steps.front());
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const auto& [batch, images, pass] = steps[i];
    INFO("step " << i);
    ahead.training->start(pass, images);
    if (i + 1 < steps.size()) load(steps[i + 1]);
    const BatchScore score = ahead.training->finish();

    std::ranges::copy(batch.images, plain.training->input().begin());
    std::ranges::copy(batch.labels, plain.training->labels().begin());
    const BatchScore wanted =
        pass == gradients ? plain.training->gradients(images) : plain.training->evaluate(images);
    CHECK(score.loss == wanted.loss);
    CHECK(score.correct == wanted.correct);
    CHECK(std::ranges::equal(ahead.training->logits().first(classes * images),
                             plain.training->logits().first(classes * images)));
    if (pass == evaluation) continue;
    ahead.training->update(kRate);
    plain.training->update(kRate);
  }
  CHECK(std::ranges::equal(ahead.training->parameters(), plain.training->parameters()));
  CHECK(std::ranges::equal(ahead.training->statistics(), plain.training->statistics()));
}

TEST_CASE("a batch that was given is replaced by one in the buffers", "[training]") {
  if (no_device()) return;
  const Network network = training_cases()[0].network;
  const Session s = session(network, options_of(4), 41);
  const Session plain = session(network, options_of(4), 41);
  const TrainingData other = training_data(network, 4, 50);
  s.training->load(other.images, other.labels);
  std::ranges::copy(s.data.images, s.training->input().begin());
  std::ranges::copy(s.data.labels, s.training->labels().begin());
  CHECK(s.training->gradients(4).loss == plain.training->gradients(4).loss);
  const TrainingData large = training_data(network, 5, 50);
  CHECK_THROWS_AS(s.training->load(large.images, large.labels), std::invalid_argument);
}

TEST_CASE("gradients are reported ready from the back to the front, with their last values",
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
    CHECK(offsets.size() == 1 + 22);  // once per convolution, and the fully connected layer
  else
    CHECK(offsets.size() > 4);
  CHECK(std::ranges::equal(seen, block));
}

#ifndef DOETUNE_TEST_BRIEF  // a host that stands for a GPU takes 20 s
TEST_CASE("a residual network fits a small problem", "[training]") {
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
    // Each class is a colour with noise.
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
#endif

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
                    Catch::Contains("not a classifier"));
}

TEST_CASE("a batch that memory cannot hold is refused before memory is used", "[training]") {
  const Network network = make_network("resnet-50", 224);
  const std::vector<float> parameters_block(parameters(network));
  const std::vector<float> statistics(statistics_count(network));
  CHECK_THROWS_MATCHES(
      make_engine("cpu")->train(network, parameters_block, statistics, options_of(1 << 20)),
      CannotRun, Catch::Predicate<CannotRun>([](const CannotRun& error) {
        const std::string text = error.what();
        return text.find("bytes requested") != std::string::npos &&
               text.find("available") != std::string::npos;
      }));
}
