// Which run uses which server: what is set up next, and what is given up.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "runner/loop/schedule.h"
#include "runner/servers/servers.h"

namespace doetune::runner {

/// The whole plots of a plan whose servers doetune sets up (run.set_up). A server is set up for the
/// first of its runs that is waiting, and after a failure for that run alone, as long as it is
/// retried. If it fails finally, the other runs of the whole plot are not executed.
class WholePlots {
 public:
  WholePlots(const study::StudyDirectory& directory, Launcher& launcher, AttemptMaker& maker)
      : directory_(directory), launcher_(launcher), servers_(directory, launcher, maker) {}

  /// Whether the runs of the study have servers.
  bool used() const { return !directory_.study.run.server.set_up.empty(); }

  Servers& servers() { return servers_; }
  const Servers& servers() const { return servers_; }

  /// Whether the run at this index in the plan may have its server set up.
  bool may_set_up(std::size_t index) const;

  /// A run of the whole plot begins. Returns the time to set up its server, for the first run that
  /// uses it.
  std::optional<double> began(int plot);
  void ended(int plot) { in_use_.erase(plot); }
  const std::set<int>& in_use() const { return in_use_; }  ///< whole plots with a run in progress

  /// Waits a moment for the end of a server, which may explain why a run failed, and adds what
  /// happens meanwhile.
  void await_end(std::vector<LauncherEvent>& events);

  /// Number of servers to be set up yet.
  std::size_t left(const Schedule& schedule) const;

  void ready(const ServerEvent& event);

  /// The run whose server could not be set up: its index in the plan. Empty if none waits for it.
  std::optional<std::size_t> waiting_for(int plot, const Schedule& schedule) const;

  /// The server for the run at this index could not be set up. `again`: the run is retried.
  void not_set_up(std::size_t index, study::RunStatus status, bool again);

  /// The run at this index is not executed: another run of its whole plot may need the server.
  void not_executed(std::size_t index);

  /// The run that showed that the server for this one cannot be set up.
  std::optional<int> without_server(const study::PlannedRun& run) const;

 private:
  int plot_at(std::size_t index) const { return plot_of(directory_.plan.runs[index]); }

  const study::StudyDirectory& directory_;
  Launcher& launcher_;
  Servers servers_;
  std::set<int> in_use_;
  std::map<int, double> set_up_s_;           ///< of a server without a run so far, by plot
  std::map<int, std::size_t> set_up_again_;  ///< the run that is retried, by plot
  std::map<int, int> without_server_;        ///< the run that showed it, by plot
};

}  // namespace doetune::runner
