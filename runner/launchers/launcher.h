// Interface of launchers, which execute attempts: on this machine, a scheduler or other hosts.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runner/attempts/attempt.h"
#include "runner/attempts/slots.h"
#include "study/run_settings.h"

namespace doetune::runner {

/// Arguments for constructing a launcher.
struct LauncherRequest {
  std::string study;                ///< name
  std::filesystem::path directory;  ///< of the study, absolute
  study::RunSettings run;
  std::function<void(const std::string&)> note = {};  ///< sends a message to the user; may be empty
};

/// Options of the command line that override the study file.
struct SlotOptions {
  std::optional<int> jobs;        ///< concurrent runs
  std::vector<std::string> gpus;  ///< to divide among the runs; empty: all available
};

/// Notification that an attempt may have ended. The attempt directory decides: if it has an `exit`
/// file, the attempt has ended; otherwise it is lost, and `remark` gives the known circumstances.
/// `end` is set only if no `exit` could or should be written, and is then final.
struct LauncherEvent {
  std::string attempt;
  std::string remark;
  std::optional<AttemptEnd> end = {};
};

/// Starts attempts and reports when to check for their ends. It never retries: retries are up to
/// the run loop, which makes a new attempt with its own directory.
class Launcher {
 public:
  virtual ~Launcher() = default;

  /// The hosts on which runs can be placed now; by default this machine. Throws RunError, with a
  /// remedy, for a cluster that cannot be queried.
  virtual std::vector<HostCapacity> capacities(const study::RunSettings& run,
                                               const SlotOptions& options) const;

  /// The program that starts the ranks of a multi-process program.
  virtual std::string_view ranks() const { return "mpirun"; }

  /// Whether the programs of runs are those of this machine; false for a container's image.
  virtual bool has_programs_here() const { return true; }

  /// Starts an attempt, at most once: a name that was submitted or claimed before is not started
  /// again. An attempt that cannot be started gets an `exit` file with the reason.
  virtual void submit(const Attempt& attempt) = 0;

  /// Resumes an attempt of an earlier runner that has no `exit` file. True: it continues and is
  /// watched as if submitted here. False: nothing of it runs, or will ever run.
  virtual bool resume(const Attempt& attempt) = 0;

  /// Waits until an attempt may have ended, `wake` is readable, or `timeout_s` have passed. An
  /// empty optional means that the scheduler did not answer and nothing is known of any attempt.
  virtual std::optional<std::vector<LauncherEvent>> wait(double timeout_s, int wake) = 0;

  /// Stops an attempt; wait() reports its end like any other.
  virtual void cancel(const std::string& attempt) = 0;

  /// Whether attempts run on this machine, so that their servers are reached here.
  virtual bool is_local() const { return false; }

  /// Hosts of capacities() that proved unusable and get no further runs.
  virtual std::set<std::string> closed_hosts() const { return {}; }
};

/// A kind of launcher; to add one: docs/architecture.md#adding-to-it.
struct LauncherType {
  std::string_view name;     ///< as in the study file
  std::string_view summary;  ///< purpose
  std::unique_ptr<Launcher> (*make)(const LauncherRequest& request);
};

std::span<const LauncherType> launcher_types();

/// The launcher of this name; does not contact a cluster. Throws RunError for an unknown name, with
/// the most similar one.
std::unique_ptr<Launcher> make_launcher(std::string_view name, const LauncherRequest& request);

}  // namespace doetune::runner
