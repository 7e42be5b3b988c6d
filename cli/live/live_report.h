// `--live`: the report of a study in a browser, updated while its runs are made.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>

#include "base/file_descriptor.h"
#include "cli/command.h"
#include "study/directory/directory.h"

namespace doetune::cli {

/// Declares --live.
void add_live(Options& options);

/// Serves a study's state and report from 127.0.0.1 (loopback_server.h) until it is destroyed.
///
/// A process of its own does so, which reads the study directory as `doetune status` does. It only
/// gets processor time that no other program wants (SCHED_IDLE), it rests for 30 times the
/// processor time of what it computes, and it is the first to be ended if memory runs out. So the
/// runs neither wait for it nor fail with it; if it fails, that is a warning at the end. It ends
/// with this process, however that ends.
class LiveReport {
 public:
  /// Serves what --live asks for and prints its address; without --live nothing. To be called while
  /// this process has one thread. `budget` is the number of runs that a search makes at most.
  /// Throws UsageError for a port that cannot be used.
  LiveReport(const Options& options, const study::StudyDirectory& directory,
             std::optional<int> budget = {});
  ~LiveReport();
  LiveReport(const LiveReport&) = delete;
  LiveReport& operator=(const LiveReport&) = delete;

  /// The command ends with this exit code, which is returned: has the report written into the study
  /// directory and shown for the last time, and prints its path, or a warning.
  int finish(int exit_code);

 private:
  pid_t process_ = 0;   ///< 0: there is none
  FileDescriptor end_;  ///< the word for how the command ended is written here
  std::filesystem::path report_;
};

}  // namespace doetune::cli
