#include "workloads/training/learning_rate.h"

#include <algorithm>
#include <cmath>

namespace doetune::workloads {

double LearningRate::at(int epoch, std::int64_t step, std::int64_t steps_per_epoch) const {
  const double warmup_steps = warmup_epochs * static_cast<double>(steps_per_epoch);
  const double rise = warmup_steps > 0 ? static_cast<double>(step + 1) / warmup_steps : 1;
  return base * std::min(1.0, rise) * std::pow(10.0, -(epoch / lr_step));
}

}  // namespace doetune::workloads
