// Runs that are executed beside the server of their whole plot on another host.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "runner/attempts/attempt_watch.h"
#include "runner/launchers/launcher.h"

namespace doetune::runner {

/// Leaves servers to the launcher of a cluster, and places their runs beside them (placement.h):
/// the doetune-attempt that keeps the server starts the run, touches its `alive` and writes its
/// `exit`, which are watched here.
class ServedLauncher : public Launcher {
 public:
  explicit ServedLauncher(std::unique_ptr<Launcher> servers) : servers_(std::move(servers)) {}

  std::vector<HostCapacity> capacities(const study::RunSettings& run,
                                       const SlotOptions& options) const override {
    return servers_->capacities(run, options);
  }
  std::string_view ranks() const override { return servers_->ranks(); }
  bool has_programs_here() const override { return servers_->has_programs_here(); }
  std::set<std::string> closed_hosts() const override { return servers_->closed_hosts(); }
  void submit(const Attempt& attempt) override;
  bool resume(const Attempt& attempt) override;
  std::optional<std::vector<LauncherEvent>> wait(double timeout_s, int wake) override;
  void cancel(const std::string& attempt) override;

 private:
  struct Placed {
    AttemptWatch watch;
    bool cancelled = false;
  };

  void look();

  std::unique_ptr<Launcher> servers_;
  std::map<std::string, Placed> runs_;  ///< by attempt
  std::vector<LauncherEvent> events_;
};

}  // namespace doetune::runner
