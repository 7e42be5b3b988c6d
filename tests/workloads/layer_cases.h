// Small networks with every type of layer in every context that an engine may treat differently.
#pragma once

#include <string>
#include <vector>

#include "workloads/networks/network.h"

namespace doetune::workloads {

struct LayerCase {
  std::string name;
  Network network;
};

/// Unless a case requires otherwise, sizes are odd and channels are no multiple of a vector.
std::vector<LayerCase> layer_cases();

}  // namespace doetune::workloads
