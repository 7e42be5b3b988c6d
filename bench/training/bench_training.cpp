// Times training steps of one network on an engine; started by compare.py (CPU) or by
// bench/gpu/run.py.
//
//   bench_training NETWORK BATCH PRECISION THREADS [DEVICE]
//
// Answers each line "N" on standard input with the seconds that N steps took, the CPU seconds of
// all threads, and the loss of the last step: one batch of random images (labels from the images'
// first pixel), trained on repeatedly.
#include <chrono>
#include <cstdio>
#include <ctime>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "base/random.h"
#include "workloads/engines/training.h"

namespace {

using namespace doetune;
using namespace doetune::workloads;

constexpr float kLearningRate = 0.01F;

std::unique_ptr<TrainableNetwork> trainable(const std::vector<std::string>& arguments) {
  const NetworkType& type = network_type(arguments.at(0));
  const Network network = make_network(type.name, type.default_height);
  const InitialState start = initial_state(network, 1);
  TrainingOptions options;
  options.batch = std::stoi(arguments.at(1));
  options.precision = precision_named(arguments.at(2));
  options.threads = std::stoi(arguments.at(3));
  options.weight_decay = 5e-4F;
  const std::string device = arguments.size() > 4 ? arguments[4] : "cpu";
  auto made = make_engine(device)->train(network, start.parameters, start.statistics, options);
  const auto input = made->input();
  for (std::size_t i = 0; i < input.size(); ++i) input[i] = 2.0F * random_unit(2, i) - 1.0F;
  const auto labels = made->labels();
  for (std::size_t image = 0; image < labels.size(); ++image)
    labels[image] = static_cast<std::int32_t>(image % network.output().channels);
  return made;
}

void serve(const std::vector<std::string>& arguments) {
  const auto network = trainable(arguments);
  const auto batch = static_cast<int>(network->labels().size());
  BatchScore score;
  const auto step = [&] {
    score = network->gradients(batch);
    network->update(kLearningRate);
  };
  step();
  std::cout << "ready" << std::endl;
  for (int steps = 0; std::cin >> steps;) {
    const auto start = std::chrono::steady_clock::now();
    const std::clock_t start_cpu = std::clock();
    for (int i = 0; i < steps; ++i) step();
    const double cpu = static_cast<double>(std::clock() - start_cpu) / CLOCKS_PER_SEC;
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
    std::cout << wall.count() << " " << cpu << " " << score.loss << std::endl;
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5 && argc != 6) {
    std::fprintf(stderr, "usage: bench_training NETWORK BATCH fp32|tf32|bf16 THREADS [cpu|cuda]\n");
    return 2;
  }
  try {
    serve({argv + 1, argv + argc});
  } catch (const CannotRun& error) {
    std::fprintf(stderr, "bench_training: %s\n", error.what());
    return 77;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_training: %s\n", error.what());
    return 1;
  }
}
