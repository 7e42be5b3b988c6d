// The servers that live through whole plots: set up, asked whether they are ready, torn down.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "runner/attempts/attempt_maker.h"
#include "runner/launchers/launcher.h"
#include "runner/servers/readiness.h"
#include "study/directory/directory.h"
#include "study/run_record.h"

namespace doetune::runner {

/// The whole plot of a run, as a key: runs without one have a plot of their own, below 0.
int plot_of(const study::PlannedRun& run);

/// What happened to the server of a whole plot.
struct ServerEvent {
  enum class Type {
    kReady,     ///< its runs can be executed
    kNotSetUp,  ///< it ended before it was ready, or was not ready in time
    kDied,      ///< it ended while it was ready
  };
  int plot = 0;
  Type type = Type::kReady;
  double set_up_s = 0;                   ///< from its start until it was ready, or was given up
  study::RunRecord record = {};          ///< not ready: of the run that it was set up for; says why
  std::filesystem::path directory = {};  ///< its output
};

/// Each server is an attempt of the local launcher, in the directory
/// STUDY/plots/0003.1 (whole plot 3, first server); the launcher ends it with all processes that it
/// started. Its runs are executed one at a time. It has
///
///   server.json  {"run", "host", "port"}: what {host} and {port} stand for
///   down         empty; created after run.tear_down
///
/// and the files of any attempt (attempt.h). A program that leaves a server behind and ends with
/// exit code 0 is permitted if there is a `tear_down`.
class Servers {
 public:
  Servers(const study::StudyDirectory& directory, Launcher& launcher, AttemptMaker& maker);

  /// Throws RunError if the server for a run could not be started anywhere: an unknown placeholder,
  /// a missing program, an address without a port.
  void check(const study::PlannedRun& run);

  /// Ends the servers of an earlier doetune that was killed.
  void end_left_behind();

  /// Starts a server for the whole plot of a run.
  void set_up(const study::PlannedRun& run, const Slot& slot);

  bool has(int plot) const { return find(plot) != nullptr; }
  bool empty() const { return servers_.empty(); }
  bool setting_up() const;  ///< whether any is not ready yet

  /// The slot for the next run of the plot, with the server's address; empty if it is not ready.
  std::optional<Slot> slot_of(int plot) const;

  std::vector<int> plots() const;  ///< those with a server

  /// Takes the end of a server. False: the event is of another attempt.
  bool take(const LauncherEvent& event);

  /// What has happened since the last call.
  std::vector<ServerEvent> look();

  /// Ends the server of a plot; does nothing if that is in progress. Returns an error message for
  /// the user; empty if there was no error.
  std::string tear_down(int plot);

  /// Removes the servers that have ended, of plots without a run in progress, and returns their
  /// slots.
  std::vector<Slot> remove_ended(const std::set<int>& busy_plots);

 private:
  struct Server {
    int plot;
    const study::PlannedRun* run;  ///< that it was set up for; null if the plan has it no more
    Attempt attempt;
    std::optional<Slot> slot;  ///< none for one that was left behind
    ServerAddress address;
    double began_s;
    std::optional<ReadinessProbe> probe = {};
    std::optional<AttemptEnd> end = {};
    bool ready = false;
    bool ending = false;
  };

  void check_factors(const std::vector<std::string>& arguments, const char* key) const;
  const Server* find(int plot) const;
  int next_number(const std::string& plot_name) const;
  int free_port() const;
  void recall(Server& server) const;
  std::optional<ServerEvent> look(Server& server);
  ServerEvent not_set_up(Server& server);
  study::RunRecord record_of(const Server& server) const;
  bool has_ended(const Server& server) const;
  Placeholders placeholders(const Server& server) const;
  ReadinessProbe::Question question(const study::PlannedRun& run,
                                    const std::optional<ServerAddress>& address) const;
  std::string run_tear_down(Server& server);

  const study::StudyDirectory& directory_;
  const study::ServerSettings& settings_;
  Launcher& launcher_;
  AttemptMaker& maker_;
  std::map<std::string, Server> servers_;  ///< by attempt name
};

}  // namespace doetune::runner
