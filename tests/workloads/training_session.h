// A network under training on the engine that is tested, its data, and how results are compared.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "training_cases.h"
#include "workloads/engines/training.h"

namespace doetune::workloads {

/// Every engine that trains is judged alike: a test program is built for each device.
#ifndef DOETUNE_TEST_DEVICE
#define DOETUNE_TEST_DEVICE "cpu"
#endif
inline constexpr std::string_view kDevice = DOETUNE_TEST_DEVICE;

/// Says so where there is nothing to test on.
bool no_device();

inline constexpr float kDecay = 1e-3F;

std::vector<double> doubles(std::span<const float> values);

/// Largest difference as a part of the largest expected value.
double difference(std::span<const float> actual, std::span<const double> expected);

/// Of a bf16 result: the length of the difference as a part of the length of what was expected.
/// Single elements may be far off where a small input's sign, and with it a ReLU, differs.
double distance(std::span<const float> actual, std::span<const double> expected);

struct Session {
  Network network;
  TrainingData data;
  std::unique_ptr<TrainableNetwork> training;
};
Session session(const Network& network, const TrainingOptions& options, std::uint64_t seed);

TrainingOptions options_of(int batch, Precision precision = Precision::fp32, int threads = 1);

/// Warns where the device lacks it.
bool has_bf16();

}  // namespace doetune::workloads
