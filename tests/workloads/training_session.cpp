#include "training_session.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>

#include "gpu_or_skip.h"

namespace doetune::workloads {

bool no_device() { return skipped_without(kDevice); }

std::vector<double> doubles(std::span<const float> values) {
  return {values.begin(), values.end()};
}

double difference(std::span<const float> actual, std::span<const double> expected) {
  double largest = 1e-12;
  double worst = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    largest = std::max(largest, std::abs(expected[i]));
    worst = std::max(worst, std::abs(double{actual[i]} - expected[i]));
  }
  return worst / largest;
}

double distance(std::span<const float> actual, std::span<const double> expected) {
  double squares = 1e-24;
  double errors = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    squares += expected[i] * expected[i];
    errors += std::pow(double{actual[i]} - expected[i], 2);
  }
  return std::sqrt(errors / squares);
}

Session session(const Network& network, const TrainingOptions& options, std::uint64_t seed) {
  Session made{network, training_data(network, options.batch, seed), nullptr};
  std::vector<float> statistics(statistics_count(network));
  initial_statistics(network, statistics);
  made.training = make_engine(kDevice)->train(network, made.data.parameters, statistics, options);
  std::ranges::copy(made.data.images, made.training->input().begin());
  std::ranges::copy(made.data.labels, made.training->labels().begin());
  return made;
}

TrainingOptions options_of(int batch, Precision precision, int threads) {
  return {.batch = batch,
          .precision = precision,
          .threads = threads,
          .momentum = 0.9F,
          .weight_decay = kDecay,
          .statistics_momentum = 0.1F};
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

}  // namespace doetune::workloads
