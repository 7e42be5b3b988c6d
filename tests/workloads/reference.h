// Reference implementation of inference: plain double-precision loops that engines are compared
// with.
#pragma once

#include <span>
#include <vector>

#include "workloads/networks/network.h"

namespace doetune::workloads {

/// The output of each layer for one image (height x width x channels), by the definitions in
/// network.h. `weights` is the block of weights.h.
std::vector<std::vector<double>> reference_layers(const Network& network,
                                                  std::span<const float> weights,
                                                  std::span<const float> image);

/// The output of the last layer only.
std::vector<double> reference_infer(const Network& network, std::span<const float> weights,
                                    std::span<const float> image);

}  // namespace doetune::workloads
