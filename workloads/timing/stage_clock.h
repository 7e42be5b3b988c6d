// The time of one stage after another, on one thread.
#pragma once

#include <chrono>

namespace doetune::workloads {

/// Adds the time between its calls to one stage after another.
class StageClock {
 public:
  void lap(double& stage_s) {
    const auto now = std::chrono::steady_clock::now();
    stage_s += std::chrono::duration<double>(now - last_).count();
    last_ = now;
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace doetune::workloads
