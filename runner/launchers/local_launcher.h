// Runs attempts as processes on this machine.
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

/// Each attempt is a process group. When it ends, for whatever reason, all its descendants are
/// killed: its group, and processes that left the group, which become children of this process
/// (PR_SET_CHILD_SUBREAPER). Children that this process had before are left alone. If this process
/// is killed, the attempts' programs are killed as well.
///
/// Use it from one thread: an attempt's program dies with the thread that submitted it. The runner
/// sleeps between events, except for telemetry, for watchdogs (memory and hang limits), and for
/// checking the clock once a second, which detects suspension of this process (Ctrl-Z, a
/// scheduler). Time suspended counts neither as duration of the attempts nor towards their limits.
class LocalLauncher : public Launcher {
 public:
  enum class Where {
    kHere,
    kNode,  ///< on a cluster node: `exit` files are durable before they are reported, and the end
            ///< of a program is believed only after a moment, since a scheduler signals the program
            ///< and the runner one after the other
  };
  explicit LocalLauncher(Where where = Where::kHere);
  ~LocalLauncher() override;
  LocalLauncher(const LocalLauncher&) = delete;
  LocalLauncher& operator=(const LocalLauncher&) = delete;

  void submit(const Attempt& attempt) override;
  bool resume(const Attempt& attempt) override;
  std::optional<std::vector<LauncherEvent>> wait(double timeout_s, int wake) override;
  void cancel(const std::string& attempt) override;
  bool is_local() const override { return true; }

  /// Stops an attempt for another reason.
  void stop(const std::string& attempt, EndCause cause, const std::string& detail);

  /// Kills what an attempt of an earlier runner left running on this machine, identified by its
  /// mark (process_table.h), even if its directory was moved. Does nothing if that runner is alive:
  /// the directory is then a copy. Returns whether that runner was on this machine and has died.
  static bool kill_left_behind(const std::filesystem::path& attempt_directory);

  /// The mark of an attempt's processes, from its claim; empty if a local launcher does not own it.
  static std::optional<ProcessMark> mark_of_attempt(const std::filesystem::path& directory);

 private:
  /// Escalation of stopping an attempt.
  enum class Stop { kNone, kTerminated, kKilled, kGivenUp };

  struct Running {
    Attempt attempt;
    Process process;
    CappedOutput output;
    CappedOutput errors;
    ProcessMark mark;
    std::string start;
    double started_s;   ///< by now_s()
    double deadline_s;  ///< by now_s(): time of the next escalation
    Watchdog watchdog;
    double suspended_before_s;
    std::optional<double> ended_s = {};     ///< by now_s()
    std::optional<long> kills_before = {};  ///< out-of-memory kills counted at the start
    std::string detail = {};                ///< why it was stopped
    Stop stop = Stop::kNone;
    EndCause cause = EndCause::kExited;
  };

  double now_s() const;
  double suspended_s() const;
  void note_lateness(double seconds);
  std::vector<int> sleep(double until_s, int wake);
  bool is_signalled(const std::vector<std::string>& ended, int wake) const;
  void watch(int descriptor);
  void record(const Attempt& attempt, pid_t program);
  pid_t server_of(const Attempt& attempt) const;
  void enforce_limits(Running& running, double now_s);
  void apply_watchdog(Running& running, double now_s);
  void explain_memory(const Running& running, AttemptEnd& end) const;
  void stop_further(Running& running, double now_s);
  void drain(Running& running);
  void finish(const std::string& name);
  void report(const Attempt& attempt, AttemptEnd end);
  bool kill_descendants(const Running& running);
  bool is_program(pid_t pid) const;

  Where where_;
  std::vector<pid_t> had_before_;  ///< children of this process, which no attempt started
  FileDescriptor events_;
  std::map<std::string, Running> running_;
  std::vector<LauncherEvent> reported_;
  std::optional<TelemetryRecorder> recorder_;  ///< created for the first attempt that needs it
  bool was_subreaper_ = false;
  double stood_still_s_ = 0;  ///< total time for which this process was stopped
};

}  // namespace doetune::runner
