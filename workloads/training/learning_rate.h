// How fast is learnt when.
#pragma once

#include <cstdint>

namespace doetune::workloads {

/// Warm-up, then steps: base min(1, epochs at the end of this step / warm-up epochs) /
/// 10^floor(epoch / lr_step), with epochs, and steps of an epoch, from 0. Source: Goyal et al.
/// (2017), section 2.2, for the warm-up.
struct LearningRate {
  double base = 0.1;
  int lr_step = 1000000;     // epochs after which the rate is divided by 10, again and again
  double warmup_epochs = 0;  // over which it rises linearly

  /// In step `step` of `steps` of an epoch.
  double at(int epoch, std::int64_t step, std::int64_t steps) const;
};

}  // namespace doetune::workloads
