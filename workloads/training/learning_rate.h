// How fast is learnt when.
#pragma once

#include <cstdint>

namespace doetune::workloads {

/// Warm-up, then steps: base min(1, (step + 1) / warm-up steps) / 10^floor(epoch / lr_step), with
/// epochs from 0. Source: Goyal et al. (2017), section 2.2, for the warm-up.
struct LearningRate {
  double base = 0.1;
  int lr_step = 1000000;     // epochs after which the rate is divided by 10, again and again
  double warmup_epochs = 0;  // over which it rises linearly

  double at(int epoch, std::int64_t step, std::int64_t steps_per_epoch) const;
};

}  // namespace doetune::workloads
