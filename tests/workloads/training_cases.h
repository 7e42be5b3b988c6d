// Small classifiers, each with a kind of layer that training must get right.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workloads/networks/parameters.h"

namespace doetune::workloads {

struct TrainingCase {
  std::string name;
  Network network;
};

/// Odd sizes, strides, channels that fill no vector, branches that part and join.
std::vector<TrainingCase> training_cases();

/// Parameters, images and labels for a network, the same for the same seed. No parameter is zero,
/// so that every gradient counts.
struct TrainingData {
  std::vector<float> parameters;
  std::vector<float> images;
  std::vector<std::int32_t> labels;
};
TrainingData training_data(const Network& network, int images, std::uint64_t seed);

}  // namespace doetune::workloads
