// A network under training on the engine being tested, its data, and the comparison of results.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "training_cases.h"
#include "workloads/engines/training.h"

namespace doetune::workloads {

/// The same tests for every engine that trains: a test program is built for each device.
#ifndef DOETUNE_TEST_DEVICE
#define DOETUNE_TEST_DEVICE "cpu"
#endif
inline constexpr std::string_view kDevice = DOETUNE_TEST_DEVICE;

/// Warns where the device does not exist here.
bool no_device();

inline constexpr float kDecay = 1e-3F;

std::vector<double> doubles(std::span<const float> values);

/// Largest difference relative to the largest expected value.
double difference(std::span<const float> actual, std::span<const double> expected);

/// For bf16 results: the norm of the difference relative to the norm of the expected vector. Single
/// elements may differ much where a small input's sign, and with it a ReLU, differs.
double distance(std::span<const float> actual, std::span<const double> expected);

struct Session {
  Network network;
  TrainingData data;
  std::unique_ptr<TrainableNetwork> training;
};
Session session(const Network& network, const TrainingOptions& options, std::uint64_t seed);

TrainingOptions options_of(int batch, Precision precision = Precision::fp32, int threads = 1);

/// Warns where the device does not support it.
bool has_bf16();

}  // namespace doetune::workloads
