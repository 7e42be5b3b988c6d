// Timing of consecutive stages on one thread.
#pragma once

#include <chrono>

#include "base/clock.h"

namespace doetune::workloads {

/// Attributes the time since the last call to a stage.
class StageClock {
 public:
  void lap(double& stage_s) {
    const auto now = Clock::now();
    stage_s += std::chrono::duration<double>(now - last_).count();
    last_ = now;
  }

 private:
  Clock::time_point last_ = Clock::now();
};

}  // namespace doetune::workloads
