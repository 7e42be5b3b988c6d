// An attempt at a planned run, and its directory, which defines the attempt's state.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace doetune::runner {

/// What a launcher is asked to start. The directory exists and contains request.json; the process
/// that runs the attempt adds the rest:
///
///   attempt.json what to start (attempt_file.h); only if another process starts it
///   claim/       created first, by an atomic mkdir: its creator owns the attempt; claim/owner
///                names it. A runner gives an attempt up by creating it itself (a fence).
///   alive        heartbeat file, touched while the attempt runs; only if the launcher cannot see
///                the process (never locally: the runner stays asleep while a workload is measured)
///   result.json  written by the workload
///   stdout, stderr, telemetry.csv
///   exit         renamed into place at the end of the attempt: how it ended
struct Attempt {
  std::string name;                    ///< globally unique: "fccd.7.1" is study, run, attempt
  std::filesystem::path directory;     ///< absolute
  std::filesystem::path program;       ///< absolute
  std::vector<std::string> arguments;  ///< arguments[0] is the program as the user wrote it
  std::map<std::string, std::string> environment;  ///< added to the runner's own
  std::filesystem::path working_directory;
  std::string host = {};          ///< host to run on; empty: chosen by the launcher
  std::vector<std::string> gpus;  ///< assigned GPUs; passed to the program in `environment`
  int gpus_wanted = 0;            ///< number of GPUs for a scheduler to assign
  std::vector<int> cpus;          ///< for CPU binding; empty: not bound
  int processes = 0;              ///< number of ranks that `program` starts; 0: a single process
  double time_limit_s = 0;
  double stop_grace_s = 0;                  ///< between SIGTERM and SIGKILL
  std::optional<double> hang_after_s = {};  ///< stopped if silent and inactive for so long
  std::optional<std::int64_t> memory_limit_bytes = {};  ///< over all its processes; stopped above
  double telemetry_hz = 0;                              ///< sampling rate; 0: no telemetry
  double heartbeat_s = 10;            ///< interval between updates of `alive`, if used
  std::filesystem::path server = {};  ///< of a run beside the server of its whole plot: directory
                                      ///< of the server's attempt; otherwise empty
  bool end_in_event = false;  ///< its end is reported by LauncherEvent::end alone, without `exit`

  std::filesystem::path request() const { return directory / "request.json"; }
  std::filesystem::path result() const { return directory / "result.json"; }
};

enum class EndCause {
  kExited,      ///< by itself, with an exit code or by a signal
  kTimeLimit,   ///< stopped at the time limit
  kHung,        ///< stopped: no output and no activity for too long
  kMemory,      ///< stopped above its memory limit, or killed by the kernel's out-of-memory killer
  kCancelled,   ///< stopped by the user
  kNotStarted,  ///< the program could not be started
  kLost,        ///< disappeared, neither by request nor by its own fault
  kSpoiled,     ///< ended by itself, but `exit` could not be written to its directory
};

/// How an attempt ended; the content of its `exit` file.
struct AttemptEnd {
  EndCause cause = EndCause::kLost;
  std::optional<int> exit_code;
  std::optional<int> signal;
  std::string detail;  ///< why it was not started, or what could not be cleaned up
  std::string host;
  std::string gpu;                  ///< assigned GPUs, comma separated
  std::string cpus;                 ///< processors it was bound to, e.g. 0-3; empty if not bound
  std::string start;                ///< UTC, ISO 8601
  double duration_s = 0;            ///< excluding suspended_s
  double suspended_s = 0;           ///< time for which the runner or the machine was suspended
  std::string output_problem = {};  ///< why output was lost; empty if all was kept
};

/// Creates claim/ with its owner file. False if it exists already. Throws study::DirectoryError if
/// the directory cannot be written.
bool claim(const std::filesystem::path& attempt_directory, const std::string& owner);

/// Renames `exit` into place. With `durable`, for a runner on another machine, it is on disk when
/// this returns. Throws study::DirectoryError.
void write_end(const std::filesystem::path& attempt_directory, const AttemptEnd& end,
               bool durable = false);

/// Empty if `exit` is missing, or incomplete after a power failure.
std::optional<AttemptEnd> read_end(const std::filesystem::path& attempt_directory);

/// Updates the modification time of a file, which is created if it is missing: a heartbeat. Never
/// throws; on a full disk or a lost mount it is missing for a while.
void touch(const std::filesystem::path& file);

/// Attempt numbers with a directory under `runs`, by run.
std::map<int, std::vector<int>> attempt_directories(const std::filesystem::path& runs);

/// The name of this machine; in a Slurm job that of the node, which distinguishes several daemons
/// on one machine; in a pod of Kubernetes that of the node as well, as told by the environment.
std::string node_name();
inline constexpr const char* kNodeVariable = "DOETUNE_NODE";

}  // namespace doetune::runner
