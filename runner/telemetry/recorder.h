// Records the telemetry of running attempts, in one file each.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace doetune::runner {

/// An attempt to record.
struct TelemetryTarget {
  std::string attempt;            ///< name, for `remove` and `activity`
  pid_t leader = 0;               ///< process ID and group of its program
  std::vector<std::string> gpus;  ///< in CUDA_VISIBLE_DEVICES notation
  std::vector<int> cpus;          ///< it is bound to; empty: all that this process may use
  std::filesystem::path file;     ///< telemetry.csv; replaced if it exists
  pid_t server = 0;               ///< program of the server that it uses, whose processes count as
                                  ///< its own from now on; 0: none
};

/// One thread samples for all attempts: processors and GPUs at the requested rate, slow sources
/// (processes, memory, GPU counters) at most once a second and rarely enough to cost less than a
/// thousandth of a core. After an hour the samples of an attempt are written once a second.
///
/// Lines are written once a second, the rest by `remove`. What cannot be opened, read or written (a
/// full disk ends the file) is missing from the file. No call throws because of it or waits for a
/// hanging driver; the destructor waits at most two seconds.
///
/// CSV with the columns of sample.h. time_s is of CLOCK_MONOTONIC, which workloads can read as
/// well.
class TelemetryRecorder {
 public:
  /// With 0 samples a second nothing is recorded, but `activity` works.
  explicit TelemetryRecorder(double samples_per_s = 10);
  ~TelemetryRecorder();
  TelemetryRecorder(const TelemetryRecorder&) = delete;
  TelemetryRecorder& operator=(const TelemetryRecorder&) = delete;

  void add(TelemetryTarget target);

  /// The file is complete when this returns. Does nothing for an unknown attempt.
  void remove(const std::string& attempt);

  /// Processor seconds used by the attempt's processes plus seconds for which its GPUs were busy:
  /// grows while the attempt is active. Scans the attempt's processes, so call it every few seconds
  /// at most. 0 for an unknown attempt.
  double activity(const std::string& attempt);

 private:
  void start();

  struct State;
  std::shared_ptr<State> state_;  ///< shared with the thread, which a hanging driver may block
  std::thread thread_;
};

}  // namespace doetune::runner
