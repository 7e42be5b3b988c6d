// Base of launchers that are told when an attempt has ended by a client: ssh, srun, Spark's driver,
// Kubernetes.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runner/attempts/attempt_watch.h"
#include "runner/launchers/client_command.h"
#include "runner/launchers/launcher.h"

namespace doetune::runner {

/// The end of the client triggers a look at the attempt's directory, which determines the outcome.
/// If the connection was lost, or this is a later doetune, the attempt continues as long as its
/// heartbeat does.
class ClientLauncher : public Launcher {
 public:
  void submit(const Attempt& attempt) override;
  bool resume(const Attempt& attempt) override;
  std::optional<std::vector<LauncherEvent>> wait(double timeout_s, int wake) override;
  void cancel(const std::string& attempt) override;

 protected:
  explicit ClientLauncher(LauncherRequest request) : request_(std::move(request)) {}

  /// The command that runs doetune-attempt for this attempt and ends with it.
  virtual std::vector<std::string> client(const Attempt& /*attempt*/) const { return {}; }

  /// Starts this command, and returns its number; or lets one client that all attempts share run
  /// doetune-attempt, and returns nothing: then the launcher calls client_ended().
  virtual std::optional<int> start_client(const Attempt& attempt);

  /// To be called once per attempt that a shared client had begun, or could not begin.
  void client_ended(const std::string& attempt, const ClientAnswer& answer);

  /// Whether to requeue an attempt that its client could not begin yet, or whose client was stopped
  /// (stop_clients) before it did; a later client will begin it.
  virtual bool take_back(const Attempt& /*attempt*/, const ClientAnswer& /*answer*/,
                         bool /*stopped*/) {
    return false;
  }

  /// The end of an attempt that had not begun when its client ended.
  virtual AttemptEnd not_begun(const Attempt& attempt, const ClientAnswer& answer) = 0;

  /// The end of an attempt that began and has no `exit`, if the cluster knows that it is over; by
  /// default its heartbeat alone decides.
  virtual std::optional<AttemptEnd> known_end(const Attempt& /*attempt*/) { return {}; }

  /// Called once for each attempt that is not watched any more, for whatever reason.
  virtual void dismiss(const Attempt& /*attempt*/) {}

  /// Called for each attempt that ends after having begun.
  virtual void had_begun(const std::string& /*host*/) {}

  /// Writes the input of doetune-attempt; on failure, reports the end of the attempt and returns
  /// false.
  bool prepare(Attempt& attempt);
  void begin(const Attempt& attempt);
  void end(const std::string& attempt, AttemptEnd end);
  bool has_begun(const std::string& attempt) const;   ///< and not ended
  bool any_begun() const;                             ///< whether any has begun and not ended
  bool has_client(const std::string& attempt) const;  ///< one that has not ended
  bool any_client() const;
  std::vector<Attempt> not_claimed() const;  ///< those submitted that have not begun

  /// Kills the clients; attempts that have begun continue as long as their heartbeats do.
  void stop_clients();

  LauncherRequest request_;
  ClientCommands commands_;
  std::vector<LauncherEvent> events_;

 private:
  struct Going {
    Attempt attempt;
    AttemptWatch watch;
    std::optional<int> client = {};  ///< number of the running command
    std::string words = {};          ///< message of a client that ended before the attempt
    bool stopped = false;            ///< whether stop_clients() killed its client
    bool cancelled = false;
  };

  static AttemptEnd silent_end(const Going& going);
  bool report_if_ended(const std::string& attempt);
  void look();
  void erase(const std::string& attempt);

  std::map<std::string, Going> going_;  ///< by attempt
  double look_due_s_ = 0;
};

}  // namespace doetune::runner
