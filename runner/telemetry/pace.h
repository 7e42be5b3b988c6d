// Schedule of a telemetry reading that is slow.
#pragma once

#include <algorithm>

namespace doetune::runner {

/// A reading takes place at most once a second, and rarely enough to cost less than 1/2000 of a
/// core; but an interval is never longer than half the time since the first reading, so that the
/// readings of a short run cover two thirds of it. The first one is not used to measure the cost,
/// as everything is new then.
class Pace {
 public:
  bool due(double now_s) const { return now_s >= due_s_; }
  void at_once() { due_s_ = 0; }
  void took(double now_s, double cpu_s) {
    if (due_s_ == 0) {
      began_s_ = now_s;
      due_s_ = now_s + kMin_s;
      return;
    }
    const double affordable_s = std::min(cpu_s / kMaxFraction, (now_s - began_s_) / 2);
    due_s_ = now_s + std::max(kMin_s, affordable_s);
  }

 private:
  static constexpr double kMin_s = 0.95;  ///< slightly below 1 s, so as not to miss a tick
  static constexpr double kMaxFraction = 1.0 / 2000;
  double began_s_ = 0;
  double due_s_ = 0;
};

}  // namespace doetune::runner
