// Attempts as processes on this machine.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/file_descriptor.h"
#include "runner/attempts/process.h"
#include "runner/attempts/watchdog.h"
#include "runner/launchers/launcher.h"
#include "runner/processes/capped_output.h"
#include "runner/telemetry/recorder.h"

namespace doetune::runner {

/// Each attempt is a process group. At its end, of whatever kind, everything that it started is
/// killed: its group, and descendants that left the group, which become children of this process
/// (PR_SET_CHILD_SUBREAPER). If this process is killed, so are the attempts' programs.
///
/// Use it from one thread: an attempt's program dies with the thread that submitted it. Between
/// events the runner sleeps and never polls, but for the telemetry of attempts that want it, and
/// for a watchdog where a limit of memory or silence is set.
class LocalLauncher : public Launcher {
 public:
  /// `durable_ends`: `exit` files are on the disk before they are told of, as on a node of a
  /// cluster.
  explicit LocalLauncher(bool durable_ends = false);
  ~LocalLauncher() override;
  LocalLauncher(const LocalLauncher&) = delete;
  LocalLauncher& operator=(const LocalLauncher&) = delete;

  void submit(const Attempt& attempt) override;
  bool resume(const Attempt& attempt) override;
  std::optional<std::vector<LauncherEvent>> wait(double timeout_s, int wake) override;
  void cancel(const std::string& attempt) override;

 private:
  /// How far an attempt has been stopped.
  enum class Stop { kNone, kTerminated, kKilled };

  struct Running {
    Attempt attempt;
    Process process;
    CappedOutput output;
    CappedOutput errors;
    std::string start;
    double started_s;   ///< monotonic
    double deadline_s;  ///< monotonic: when to stop it further
    Watchdog watchdog;
    std::optional<long> kills_before = {};  ///< out of memory, in the control group
    std::string detail = {};                ///< why it was stopped
    Stop stop = Stop::kNone;
    EndCause cause = EndCause::kExited;
  };

  void watch(int descriptor);
  void record(const Attempt& attempt, pid_t program);
  void heed_watchdog(Running& running, double now_s);
  void explain_memory(const Running& running, AttemptEnd& end) const;
  void stop_further(Running& running, double now_s);
  void drain(Running& running);
  void finish(const std::string& name);
  void report(const Attempt& attempt, AttemptEnd end);
  bool kill_descendants(const Running& running);
  bool is_program(pid_t pid) const;

  bool durable_ends_;
  FileDescriptor events_;
  std::map<std::string, Running> running_;
  std::vector<LauncherEvent> reported_;
  std::optional<TelemetryRecorder> recorder_;  ///< from the first attempt on that wants one
  bool was_subreaper_ = false;
};

}  // namespace doetune::runner
