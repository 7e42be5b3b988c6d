// Attempts that a client of this machine starts elsewhere and stays connected to: ssh, srun.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runner/attempts/attempt_watch.h"
#include "runner/launchers/client_command.h"
#include "runner/launchers/launcher.h"

namespace doetune::runner {

/// The client's end is the event; the attempt's directory says what it means. Where the connection
/// was lost, or this is a later doetune, the attempt goes on while its heartbeat does.
class ClientLauncher : public Launcher {
 public:
  void submit(const Attempt& attempt) override;
  bool resume(const Attempt& attempt) override;
  std::optional<std::vector<LauncherEvent>> wait(double timeout_s, int wake) override;
  void cancel(const std::string& attempt) override;

 protected:
  explicit ClientLauncher(LauncherRequest request) : request_(std::move(request)) {}

  /// The command that runs doetune-attempt for it, and ends with it.
  virtual std::vector<std::string> client(const Attempt& attempt) const = 0;

  /// Whether to take back an attempt whose client could not begin it yet: one that will be begun
  /// again, and never by that client.
  virtual bool take_back(const Attempt& /*attempt*/, const ClientAnswer& /*answer*/) {
    return false;
  }

  /// How an attempt ended that had not begun when its client did.
  virtual AttemptEnd not_begun(const std::string& host, const ClientAnswer& answer) = 0;

  /// Called for each attempt that ends after it had begun.
  virtual void had_begun(const std::string& /*host*/) {}

  /// Writes what doetune-attempt needs; false where that failed, which is told.
  bool prepare(Attempt& attempt);
  void begin(const Attempt& attempt);
  void end(const std::string& attempt, AttemptEnd end);
  bool any_begun() const;  ///< and not over

  /// Kills the clients; attempts that have begun go on while their heartbeats do.
  void stop_clients();

  LauncherRequest request_;
  ClientCommands commands_;
  std::vector<LauncherEvent> events_;

 private:
  struct Going {
    Attempt attempt;
    AttemptWatch watch;
    std::optional<int> client = {};  ///< number of the command while it runs
    std::string words = {};          ///< of a client that ended before the attempt did
    bool cancelled = false;
  };

  void client_ended(const std::string& attempt, const ClientAnswer& answer);
  bool report_if_ended(const std::string& attempt);
  void look();
  void erase(const std::string& attempt);

  std::map<std::string, Going> going_;  ///< by attempt
  double look_due_s_ = 0;
};

}  // namespace doetune::runner
