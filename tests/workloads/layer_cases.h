// Small networks that hold every kind of layer in every place that an engine may treat apart.
#pragma once

#include <string>
#include <vector>

#include "workloads/networks/network.h"

namespace doetune::workloads {

struct LayerCase {
  std::string name;
  Network network;
};

/// Sizes are odd, and channels fill no vector, wherever nothing else is asked for.
std::vector<LayerCase> layer_cases();

}  // namespace doetune::workloads
