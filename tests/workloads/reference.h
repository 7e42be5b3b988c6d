// Inference in plain double-precision loops, to judge engines by.
#pragma once

#include <span>
#include <vector>

#include "workloads/networks/network.h"

namespace doetune::workloads {

/// The last layer's output for one image (height x width x channels), by the definitions in
/// network.h. `weights` is the block of weights.h.
std::vector<double> reference_infer(const Network& network, std::span<const float> weights,
                                    std::span<const float> image);

}  // namespace doetune::workloads
