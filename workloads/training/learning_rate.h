// The learning-rate schedule.
#pragma once

#include <cstdint>

namespace doetune::workloads {

/// Linear warm-up, then a step schedule: base min(1, epochs at the end of this step / warm-up
/// epochs) / 10^floor(epoch / lr_step); epochs, and steps in an epoch, count from 0. Source: Goyal
/// et al. (2017), section 2.2, for the warm-up.
struct LearningRate {
  double base = 0.1;
  int lr_step = 1000000;     // epochs between divisions of the rate by 10
  double warmup_epochs = 0;  // duration of the linear rise

  /// The rate in step `step` of the `steps` of an epoch.
  double at(int epoch, std::int64_t step, std::int64_t steps) const;
};

}  // namespace doetune::workloads
