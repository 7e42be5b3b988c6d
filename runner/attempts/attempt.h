// One try at a planned run, and the directory that is the truth about it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace doetune::runner {

/// What a launcher is asked to start. The directory is there and holds request.json; the rest of
/// it comes from whoever runs the attempt:
///
///   attempt.json what to start (attempt_file.h); only where another process is to start it
///   claim/       made first, by an atomic mkdir: whoever makes it owns the attempt; claim/owner
///                says who that is. A runner gives an attempt up by making it itself (a fence).
///   alive        its time is refreshed while the attempt runs; only where the launcher cannot see
///                the process (never locally: the runner stays asleep while a workload is measured)
///   result.json  written by the workload
///   stdout, stderr, telemetry.csv
///   exit         renamed into place when the attempt is over: how it ended
struct Attempt {
  std::string name;                    ///< unique for ever: "fccd.7.1" is study, run, attempt
  std::filesystem::path directory;     ///< absolute
  std::filesystem::path program;       ///< absolute
  std::vector<std::string> arguments;  ///< with the program as the user wrote it as the first
  std::map<std::string, std::string> environment;  ///< set on top of the runner's own
  std::filesystem::path working_directory;
  std::string host = {};          ///< to run on; empty: whoever launches knows
  std::vector<std::string> gpus;  ///< assigned; told to the program by `environment`
  int gpus_wanted = 0;            ///< of a scheduler that assigns them itself
  std::vector<int> cpus;          ///< to be bound to; empty: not bound
  int processes = 0;              ///< ranks of the program, started by it; 0: it is one process
  double time_limit_s = 0;
  double stop_grace_s = 0;                              ///< from SIGTERM to SIGKILL
  std::optional<double> hang_after_s = {};              ///< without output and activity: stopped
  std::optional<std::int64_t> memory_limit_bytes = {};  ///< of all its processes; over it: stopped
  double telemetry_hz = 0;                              ///< samples a second; 0: none
  double heartbeat_s = 10;  ///< between two refreshments of `alive`, where there is one

  std::filesystem::path request() const { return directory / "request.json"; }
  std::filesystem::path result() const { return directory / "result.json"; }
};

enum class EndCause {
  kExited,      ///< by itself, with an exit code or by a signal
  kTimeLimit,   ///< stopped at the time limit
  kHung,        ///< stopped: no output and no activity for too long
  kMemory,      ///< stopped: over its memory limit, or killed by the kernel for want of memory
  kCancelled,   ///< stopped by the user
  kNotStarted,  ///< the program could not be started
  kLost,        ///< does not run any more, by nobody's wish and no fault of its own
  kSpoiled,     ///< by itself, but its directory was spoilt: `exit` could not be written
};

/// How an attempt ended: the content of its `exit` file.
struct AttemptEnd {
  EndCause cause = EndCause::kLost;
  std::optional<int> exit_code;
  std::optional<int> signal;
  std::string detail;  ///< why it was not started, or what could not be cleaned up
  std::string host;
  std::string gpu;                  ///< assigned GPUs, comma separated
  std::string cpus;                 ///< processors it was bound to, e.g. 0-3; empty: not bound
  std::string start;                ///< UTC, ISO 8601
  double duration_s = 0;            ///< without suspended_s
  double suspended_s = 0;           ///< in which the runner or the machine was suspended meanwhile
  std::string output_problem = {};  ///< why some of its output was not kept; empty where all was
};

/// Makes claim/ with its owner file. False if it is there already.
/// Throws study::DirectoryError where the directory cannot be written.
bool claim(const std::filesystem::path& attempt_directory, const std::string& owner);

/// Renames `exit` into place; `durable`: on the disk when it returns, for a runner on another
/// machine goes by it. Throws study::DirectoryError.
void write_end(const std::filesystem::path& attempt_directory, const AttemptEnd& end,
               bool durable = false);

/// Empty where there is no `exit`, or one that a power cut left incomplete.
std::optional<AttemptEnd> read_end(const std::filesystem::path& attempt_directory);

/// Numbers of the attempts that have a directory under `runs`, by run.
std::map<int, std::vector<int>> attempt_directories(const std::filesystem::path& runs);

/// This machine's name: in a job of Slurm the node's, which several daemons on one machine tell
/// apart.
std::string node_name();

}  // namespace doetune::runner
