// What the processes of each attempt use: the program and everything that it started.
#pragma once

#include <sys/types.h>

#include <map>
#include <optional>
#include <string>

#include "runner/telemetry/growing.h"

namespace doetune::runner {

/// Totals since the program started; of processes that came and went between two readings, what
/// their parents waited for.
struct ProcessUse {
  int processes = 0;
  double resident_bytes = 0;  ///< now; pages that processes share count for each of them
  double cpu_s = 0;
  double major_faults = 0;           ///< pages that had to be read from a disk
  std::optional<double> read_bytes;  ///< from storage, not from the page cache
  std::optional<double> written_bytes;
};

/// Context switches of the threads alive, since the first reading.
struct ContextSwitches {
  double voluntary = 0;
  double involuntary = 0;
};

/// A process belongs to an attempt whose program it is, or if its parent does; once seen, it
/// belongs to it wherever it goes. Of those that lost their parent before they were seen, and so
/// became children of this process (PR_SET_CHILD_SUBREAPER), it belongs to the attempt of its
/// group's or its session's leader; one that has left both is missed.
class ProcessTrees {
 public:
  void add(const std::string& attempt, pid_t leader);
  void remove(const std::string& attempt);

  /// Looks for processes that are new; takes a time in proportion to the threads of those known.
  void search();

  /// All zero for an attempt that was not added.
  ProcessUse use(const std::string& attempt);

  /// Memory now, where pages that processes share count once (Pss of /proc/PID/smaps_rollup): takes
  /// a time in proportion to the memory.
  double proportional_bytes(const std::string& attempt) const;

  /// Takes a time in proportion to the threads.
  ContextSwitches context_switches(const std::string& attempt);

 private:
  struct Tree {
    pid_t leader = 0;
    std::map<pid_t, double> members;  ///< with when they started
    Growing cpu_s{0.0};
    Growing major_faults{0.0};
    Growing read_bytes{0.0};
    Growing written_bytes{0.0};
    Growing voluntary{};
    Growing involuntary{};
  };
  void add_left_behind();

  std::map<std::string, Tree> trees_;
};

}  // namespace doetune::runner
