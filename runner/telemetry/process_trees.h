// Resource use of each attempt's processes: the program and all its descendants.
#pragma once

#include <sys/types.h>

#include <map>
#include <optional>
#include <string>

#include "runner/telemetry/growing.h"

namespace doetune::runner {

/// Totals since the program started, of a server since it was added. For processes that started and
/// ended between two readings, only what their parents waited for is included.
struct ProcessUse {
  int processes = 0;
  double resident_bytes = 0;  ///< current; shared pages count for every process
  double cpu_s = 0;
  double major_faults = 0;           ///< pages read from disk
  std::optional<double> read_bytes;  ///< from storage, not from the page cache
  std::optional<double> written_bytes;
};

/// Context switches of the living threads, since the first reading.
struct ContextSwitches {
  double voluntary = 0;
  double involuntary = 0;
};

/// A process belongs to an attempt if it is its program or server or its parent belongs to it; once
/// seen, it stays a member. Processes orphaned before they were seen become children of this
/// process (PR_SET_CHILD_SUBREAPER) and are assigned by their group's or session's leader; one that
/// has left both is missed.
class ProcessTrees {
 public:
  /// `server` is the program of a server that several attempts may use, one after another; 0: none.
  void add(const std::string& attempt, pid_t leader, pid_t server = 0);
  void remove(const std::string& attempt);

  /// Searches for new processes; the time is proportional to the number of known threads.
  void search();

  /// All zero for an unknown attempt.
  ProcessUse use(const std::string& attempt);

  /// Current memory with shared pages divided among processes (Pss of /proc/PID/smaps_rollup); the
  /// time is proportional to the memory.
  double proportional_bytes(const std::string& attempt) const;

  /// The time is proportional to the number of threads.
  ContextSwitches context_switches(const std::string& attempt);

 private:
  struct Tree {
    pid_t leader = 0;
    std::map<pid_t, double> members;  ///< with start times
    Growing cpu_s{0.0};
    Growing major_faults{0.0};
    Growing read_bytes{0.0};
    Growing written_bytes{0.0};
    Growing voluntary{};
    Growing involuntary{};
  };
  void add_left_behind();
  static void add_descendants(Tree& tree);
  static ProcessUse read(Tree& tree);

  std::map<std::string, Tree> trees_;
};

}  // namespace doetune::runner
