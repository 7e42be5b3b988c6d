// Where attempts are placed: this machine, a scheduler, another host.
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

/// What a launcher is made from.
struct LauncherRequest {
  std::string study;                ///< its name
  std::filesystem::path directory;  ///< of the study, absolute
  study::RunSettings run;
  std::function<void(const std::string&)> note = {};  ///< tells the user something; may be empty
};

/// What the command line says of the places, before the study file does.
struct PlaceOptions {
  std::optional<int> jobs;        ///< runs at once
  std::vector<std::string> gpus;  ///< to share out among them; empty: all there are
};

/// A launcher's word that an attempt may be over. The attempt directory has the last word: with an
/// `exit` file it is; without one the attempt is lost, and the remark says what is known of it.
/// Only where `exit` could not be written is the end told here, and this word is the last.
struct LauncherEvent {
  std::string attempt;
  std::string remark;
  std::optional<AttemptEnd> end = {};
};

/// Starts attempts and says when to look for their ends. It never tries again: retries belong to
/// the run loop, each one a new attempt with a directory of its own.
class Launcher {
 public:
  virtual ~Launcher() = default;

  /// Where runs can be placed at once: unless a launcher knows better, this machine. Throws
  /// RunError for a cluster that cannot be asked, with what to install or to write.
  virtual std::vector<HostCapacity> capacities(const study::RunSettings& run,
                                               const PlaceOptions& options) const;

  /// What starts the ranks of a program that is run in several processes.
  virtual std::string_view ranks() const { return "mpirun"; }

  /// Starts an attempt, once: a name that was submitted or claimed before is not started again.
  /// An attempt that cannot be started ends with an `exit` file that says why.
  virtual void submit(const Attempt& attempt) = 0;

  /// Takes up an attempt of an earlier runner that has no `exit` file. True: it goes on and is
  /// watched as if submitted here. False: nothing of it runs, and nothing ever will.
  virtual bool resume(const Attempt& attempt) = 0;

  /// Waits until an attempt may be over, `wake` is readable, or `timeout_s` have passed. Empty
  /// optional: no answer, nothing is known of any attempt.
  virtual std::optional<std::vector<LauncherEvent>> wait(double timeout_s, int wake) = 0;

  /// Stops an attempt; its end is reported by wait as any other.
  virtual void cancel(const std::string& attempt) = 0;

  /// Hosts of capacities() that turned out to be of no use: they get no further runs.
  virtual std::set<std::string> closed_hosts() const { return {}; }
};

/// One kind of launcher. A new one is a source file and a line in launcher.cpp.
struct LauncherType {
  std::string_view name;     ///< as written in the study file
  std::string_view summary;  ///< what it is for
  std::unique_ptr<Launcher> (*make)(const LauncherRequest& request);
};

std::span<const LauncherType> launcher_types();

/// The launcher of this name; making it asks nothing of a cluster. Throws RunError for an unknown
/// one, with the nearest.
std::unique_ptr<Launcher> make_launcher(std::string_view name, const LauncherRequest& request);

}  // namespace doetune::runner
