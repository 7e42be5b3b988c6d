// `--live`: the report of a study in a browser, updated while its runs are made.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string_view>

#include "base/file_descriptor.h"
#include "cli/command.h"
#include "study/directory/directory.h"

namespace doetune::cli {

/// Declares --live.
void add_live(Options& options);

/// Serves a study's state and report from 127.0.0.1 (loopback_server.h) until it is destroyed.
///
/// A process of its own does so, which reads the study directory as `doetune status` does. It
/// computes with the lowest priority (nice 19: 1.5 % of a processor that a run wants as well),
/// rests for 30 times the processor time of what it computed, and is the first to be ended if
/// memory runs out. So the runs neither wait for it nor fail with it; if it fails, that is a
/// warning at the end. It ends with this process, however that ends.
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

  /// The command ends with this exit code, which is returned: writes the report into the study
  /// directory, prints its path, and shows it to those who are looking. Prints a warning if that
  /// fails.
  int finish(int exit_code);

 private:
  void write_report(std::string_view phase);
  void wait();

  pid_t process_ = 0;   ///< 0: there is none
  FileDescriptor end_;  ///< the last state is written here
  std::filesystem::path directory_;
  std::optional<int> budget_;
};

}  // namespace doetune::cli
