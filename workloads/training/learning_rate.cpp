#include "workloads/training/learning_rate.h"

#include <algorithm>
#include <cmath>

namespace doetune::workloads {

double LearningRate::at(int epoch, std::int64_t step, std::int64_t steps) const {
  const double epochs = epoch + static_cast<double>(step + 1) / static_cast<double>(steps);
  const double rise = warmup_epochs > 0 ? epochs / warmup_epochs : 1;
  return base * std::min(1.0, rise) * std::pow(10.0, -(epoch / lr_step));
}

}  // namespace doetune::workloads
