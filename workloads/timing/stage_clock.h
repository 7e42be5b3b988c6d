// The time of one stage after another, on one thread.
#pragma once

#include <chrono>

#include "base/clock.h"

namespace doetune::workloads {

/// Adds the time between its calls to one stage after another.
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
