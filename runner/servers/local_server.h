// One server on this machine: its port, its command lines, whether it can be used.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "runner/attempts/attempt.h"
#include "runner/attempts/command.h"
#include "runner/servers/readiness.h"
#include "runner/servers/server_order.h"

namespace doetune::runner {

/// A port of this machine that nobody uses now and `is_taken` does not claim; where the system
/// allows it, none that it takes for outgoing connections: a server may need minutes until it
/// listens. Throws RunError if there is none.
int free_port(const std::function<bool(int)>& is_taken);

/// The server that an order describes, at an address on this machine. It is started by submitting
/// attempt() to a launcher.
class LocalServer {
 public:
  /// `attempt` has the program and the resources; its arguments are filled in here. Writes the
  /// address into its directory. Throws RunError for command lines that cannot be executed here.
  LocalServer(const ServerOrder& order, Attempt attempt, const ServerAddress& address);

  const Attempt& attempt() const { return attempt_; }
  double set_up_s() const;  ///< time since its start

  /// Whether it can be used, by run.ready; does not wait. Something that answers at its port but
  /// belongs to another attempt of doetune is not this server.
  bool is_ready() { return probe_.is_ready(); }

  /// Why it has not become ready in time; empty if there is time left.
  std::string overdue() const;

  /// Whether it may live on after its program has ended like this: the command left it behind, and
  /// run.tear_down ends it.
  bool may_outlive(const AttemptEnd& end) const;

  bool has_tear_down() const { return tear_down_.has_value(); }

  /// Executes run.tear_down, if there is one. Returns an error message; empty if there was no
  /// error.
  std::string tear_down() const;

 private:
  Command command(const std::vector<std::string>& arguments, const char* key,
                  const Placeholders& values) const;
  ReadinessProbe::Question question(const ServerOrder& order, const Placeholders& values) const;

  Attempt attempt_;
  double began_s_;
  double ready_within_s_;
  std::optional<Command> tear_down_;
  ReadinessProbe probe_;
};

}  // namespace doetune::runner
