// Detects attempts that hang or exceed their memory limit.
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>

#include "runner/attempts/attempt.h"
#include "runner/telemetry/process_trees.h"

namespace doetune::runner {

/// Checks one attempt for its `hang_after_s` and `memory_limit_bytes`: at most every half second
/// for memory, and ten times within `hang_after_s`. It needs no wake-up between checks.
class Watchdog {
 public:
  /// A silent program that uses less than this fraction of a processor counts as inactive: threads
  /// that poll a queue or a device wake up occasionally.
  static constexpr double kIdleFraction = 0.01;

  struct Verdict {
    EndCause cause;
    std::string detail;
  };

  Watchdog(const Attempt& attempt, pid_t program, double now_s);

  /// Time of the next check; infinite if there is nothing to watch.
  double due_s() const { return due_s_; }

  void saw_output(double now_s);

  /// `activity` returns the processor and GPU seconds used by the attempt so far. If a verdict is
  /// returned, the attempt must be stopped.
  std::optional<Verdict> look(double now_s, const std::function<double()>& activity);

 private:
  std::optional<Verdict> look_for_hang(double now_s, double activity_s);
  std::optional<Verdict> look_for_memory();

  std::string attempt_;
  std::optional<double> hang_after_s_;
  std::optional<std::int64_t> memory_limit_bytes_;
  double pause_s_;
  double due_s_;
  double quiet_since_s_;              ///< time since which there was neither output nor activity
  std::optional<double> activity_s_;  ///< at quiet_since_s_
  ProcessTrees trees_;
};

/// Number of processes killed by the kernel's out-of-memory killer in this process' control group
/// (if that is unreadable, on the machine); empty if unknown.
std::optional<long> out_of_memory_kills();

}  // namespace doetune::runner
