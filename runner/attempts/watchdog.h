// Attempts that hang or take more memory than they may.
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>

#include "runner/attempts/attempt.h"
#include "runner/telemetry/process_trees.h"

namespace doetune::runner {

/// Watches one attempt for its `hang_after_s` and `memory_limit_bytes`. Looks at most every half
/// second, ten times in the time after which a program hangs: between looks nobody wakes up.
class Watchdog {
 public:
  /// Below this part of one processor, a program that writes nothing does nothing: threads that
  /// poll a queue or a device wake up now and then for ever.
  static constexpr double kIdleShare = 0.01;

  struct Verdict {
    EndCause cause;
    std::string detail;
  };

  Watchdog(const Attempt& attempt, pid_t program, double now_s);

  /// When it wants to look next; infinite where there is nothing to watch.
  double due_s() const { return due_s_; }

  void saw_output(double now_s);

  /// `activity`: seconds of processors and GPUs that the attempt has used so far. A verdict: the
  /// attempt is to be stopped.
  std::optional<Verdict> look(double now_s, const std::function<double()>& activity);

 private:
  std::optional<Verdict> look_for_hang(double now_s, double activity_s);
  std::optional<Verdict> look_for_memory();

  std::string attempt_;
  std::optional<double> hang_after_s_;
  std::optional<std::int64_t> memory_limit_bytes_;
  double pause_s_;
  double due_s_;
  double quiet_since_s_;              ///< neither output nor activity since
  std::optional<double> activity_s_;  ///< at quiet_since_s_
  ProcessTrees trees_;
};

/// How many processes the kernel has killed for want of memory in this process' control group (or,
/// where that cannot be read, on the machine); empty where nobody says.
std::optional<long> out_of_memory_kills();

}  // namespace doetune::runner
