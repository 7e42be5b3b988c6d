// Reference implementation of training: plain double-precision loops that engines are compared
// with, themselves verified by finite differences.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "workloads/networks/parameters.h"

namespace doetune::workloads {

/// The seeds and indices of dropout, as in training.h.
struct DropoutDraw {
  std::uint64_t seed = 1;
  std::int64_t step = 0;
  std::int64_t first_image = 0;
};

/// The results for a batch by the definitions in network.h and training.h. `gradients` and
/// `statistics` have the layouts of parameters.h.
struct ReferencePass {
  double loss = 0;
  int correct = 0;
  std::vector<double> logits;      // images x classes
  std::vector<double> gradients;   // of the mean loss
  std::vector<double> statistics;  // the batch's means and variances (n - 1 in the denominator)
};

/// Forward and backward pass. Images are height x width x channels. Throws std::invalid_argument
/// for a layer that cannot be trained.
ReferencePass reference_gradients(const Network& network, std::span<const double> parameters,
                                  std::span<const float> images,
                                  std::span<const std::int32_t> labels,
                                  const DropoutDraw& draw = {});

/// Forward pass with the running statistics; `gradients` and `statistics` stay empty.
ReferencePass reference_evaluate(const Network& network, std::span<const double> parameters,
                                 std::span<const double> statistics, std::span<const float> images,
                                 std::span<const std::int32_t> labels);

}  // namespace doetune::workloads
