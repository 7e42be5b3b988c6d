// Telemetry of the attempts under way, into a file for each.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace doetune::runner {

/// What is recorded of one attempt.
struct TelemetryTarget {
  std::string attempt;            ///< its name, for `remove` and `activity`
  pid_t leader = 0;               ///< its program, and so its process group
  std::vector<std::string> gpus;  ///< as CUDA_VISIBLE_DEVICES names them
  std::vector<int> cpus;          ///< that it is bound to; empty: all that this process may use
  std::filesystem::path file;     ///< telemetry.csv; one that is there is replaced
};

/// One thread samples for all attempts: processors and GPUs at the rate asked for, what is slow to
/// ask for (processes, memory, counters of GPUs) at most once a second and so seldom that it costs
/// less than a thousandth of a core. After an hour an attempt's samples are written once a second.
///
/// The lines of a second are written together, the rest with `remove`. What cannot be opened,
/// written (a full disk ends the file) or read is missing in the file; no call throws for it, and
/// none waits for a driver that hangs, nor does the destructor for longer than two seconds.
///
/// CSV: the columns of sample.h. time_s is of CLOCK_MONOTONIC, which a workload can read as well.
class TelemetryRecorder {
 public:
  /// 0 samples a second: nothing is recorded, `activity` is known all the same.
  explicit TelemetryRecorder(double samples_per_s = 10);
  ~TelemetryRecorder();
  TelemetryRecorder(const TelemetryRecorder&) = delete;
  TelemetryRecorder& operator=(const TelemetryRecorder&) = delete;

  void add(TelemetryTarget target);

  /// The file is complete when this returns. Does nothing for an attempt that is not recorded.
  void remove(const std::string& attempt);

  /// Seconds of processors that the attempt's processes have used, and seconds that its GPUs were
  /// busy: it grows while the attempt does anything. It looks through the attempt's processes:
  /// to be asked every few seconds at most. 0 for an attempt that is not recorded.
  double activity(const std::string& attempt);

 private:
  void start();

  struct State;
  std::shared_ptr<State> state_;  ///< shared with the thread, which a hanging driver may hold up
  std::thread thread_;
};

}  // namespace doetune::runner
