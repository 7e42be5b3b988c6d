// Small classifiers, one for each type of layer or structure that training must support.
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

/// Odd sizes, strides, channels that are no multiple of a vector, branches that split and join.
std::vector<TrainingCase> training_cases();

/// Parameters, images and labels for a network, reproducible by seed. No parameter is zero, so that
/// every gradient matters.
struct TrainingData {
  std::vector<float> parameters;
  std::vector<float> images;
  std::vector<std::int32_t> labels;
};
TrainingData training_data(const Network& network, int images, std::uint64_t seed);

}  // namespace doetune::workloads
