// The servers that live through whole plots: set up, asked whether they are ready, torn down.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "runner/attempts/attempt_maker.h"
#include "runner/attempts/attempt_watch.h"
#include "runner/launchers/launcher.h"
#include "runner/servers/local_server.h"
#include "study/directory/directory.h"
#include "study/run_record.h"

namespace doetune::runner {

/// The whole plot of a run, as a key: runs without one have a plot of their own, below 0.
int plot_of(const study::PlannedRun& run);

/// Throws RunError if the server for a run could not be started anywhere: an unknown placeholder,
/// an address without a port, and with `programs_here` a missing program.
void check_server(const study::StudyDirectory& directory, AttemptMaker& maker,
                  const study::PlannedRun& run, bool programs_here);

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

/// Each server is an attempt in the directory STUDY/plots/0003.1 (whole plot 3, first server); what
/// starts it ends it with all processes that it started. Its runs are executed on its host, one at
/// a time. With the launcher local, doetune starts and ends everything itself; otherwise the
/// doetune-attempt on the server's host does (plot_host.h). The directory has
///
///   server.json   what is to be set up, address.json where it is (server_order.h)
///   ready         written when it can be used
///   wanted        touched by doetune as long as it wants a server on another host
///   start/        the runs to be started on another host (placement.h)
///   down          empty; created when it has ended
///
/// and the files of any attempt (attempt.h). A program that leaves a server behind and ends with
/// exit code 0 is permitted if there is a `tear_down`.
class Servers {
 public:
  Servers(const study::StudyDirectory& directory, Launcher& launcher, AttemptMaker& maker);

  /// Takes up the servers of an earlier doetune: one on another host that goes on, and that the
  /// study would set up today, is kept and has a slot; all others are ended.
  void take_up(SlotPool& pool);

  /// The whole plot whose server has this directory; empty if there is none, or it is being ended.
  std::optional<int> plot_of_server(const std::filesystem::path& directory) const;

  /// Tells other hosts that their servers are wanted; to be called every few seconds.
  void keep_wanted();

  /// Starts a server for the whole plot of a run.
  void set_up(const study::PlannedRun& run, const Slot& slot);

  bool has(int plot) const { return find(plot) != nullptr; }
  bool has(const std::string& attempt) const { return servers_.count(attempt) > 0; }
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
    std::optional<Slot> slot = {};           ///< none for one that was left behind
    std::optional<LocalServer> here = {};    ///< with the launcher local
    std::optional<AttemptWatch> there = {};  ///< on another host
    std::optional<ServerAddress> address = {};
    std::optional<AttemptEnd> end = {};
    bool ready = false;
    bool ending = false;
    bool answers = true;  ///< its host, as last seen
  };

  const Server* find(int plot) const;
  const study::PlannedRun* find_run(int number) const;
  int next_number(const std::string& plot_name) const;
  Server left_behind(int plot, const std::filesystem::path& directory);
  bool is_wanted(const Server& server) const;
  std::optional<ServerEvent> look(Server& server);
  void look_here(Server& server, ServerEvent& event) const;
  void look_there(Server& server, ServerEvent& event) const;
  bool has_ended(const Server& server) const;
  std::string end_server(const std::string& name);
  study::RunRecord record_of(const Server& server) const;

  const study::StudyDirectory& directory_;
  const study::ServerSettings& settings_;
  Launcher& launcher_;
  AttemptMaker& maker_;
  std::map<std::string, Server> servers_;  ///< by attempt name
  double keep_wanted_due_s_ = 0;
};

}  // namespace doetune::runner
