// The whole plot on the host of its server: what doetune-attempt does for a server.
#pragma once

#include <filesystem>
#include <functional>
#include <future>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "runner/attempts/attempt.h"
#include "runner/launchers/local_launcher.h"
#include "runner/servers/local_server.h"

namespace doetune::runner {

/// Sets a server up, starts the runs that are placed beside it (placement.h), and ends it with
/// everything that it started: when doetune asks for that, on a signal, when the server ends or is
/// not ready in time, and when doetune has not touched `wanted` for a while. While a run is
/// measured, this process wakes up for heartbeats alone.
class PlotHost {
 public:
  /// `signalled` says whether this process was asked to stop; `wake` is readable when it was.
  PlotHost(const Attempt& server, const ServerOrder& order, std::function<bool()> signalled,
           int wake);

  /// Returns when nothing of the whole plot runs any more; the end of the server is then in its
  /// directory. Throws study::DirectoryError if that cannot be written.
  void run();

 private:
  bool start();
  void look();
  void look_at_requests();
  void look_at_server();
  void start_runs();
  void start_run(const std::string& name);
  bool is_wanted();
  void stop(EndCause cause, const std::string& detail);
  void stop_further();
  void handle(const LauncherEvent& event);
  void beat();
  bool is_over() const;
  double pause_s() const;
  AttemptEnd end() const;

  Attempt attempt_;
  ServerOrder order_;
  std::function<bool()> signalled_;
  int wake_;
  LocalLauncher launcher_;
  std::optional<LocalServer> server_;
  std::optional<AttemptEnd> program_end_;  ///< of the server's program
  bool owned_elsewhere_ = false;
  bool ready_ = false;
  std::map<std::string, Attempt> runs_;  ///< in progress, by name
  std::set<std::string> taken_;          ///< entries of placed_runs that were started
  std::optional<EndCause> stopped_;      ///< why the server is ended, if this process ends it
  std::string detail_;                   ///< of `stopped_`
  std::future<std::string> tear_down_;   ///< in progress
  bool torn_down_ = false;
  std::optional<std::filesystem::file_time_type> wanted_;  ///< as last seen
  double wanted_seen_s_;                                   ///< when it last changed
  double beat_due_s_ = 0;
};

}  // namespace doetune::runner
