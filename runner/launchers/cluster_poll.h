// Asks a cluster for the state of all jobs, again and again.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "runner/launchers/client_command.h"

namespace doetune::runner {

/// Runs one command at intervals, through a launcher's commands. If the cluster does not answer,
/// asks less and less often; the user is notified once that it is silent and once that it is back.
class ClusterPoll {
 public:
  struct Query {
    std::string cluster;               ///< as the user knows it: Slurm
    std::vector<std::string> command;  ///< prints the state of all jobs
    double every_s;
    std::function<void(const std::string&)> note;   ///< sends a message to the user; may be empty
    std::function<bool(const ClientAnswer&)> read;  ///< stores an answer; false if it is not one
    std::function<void()> heard;                    ///< called after each answer that was stored
  };

  ClusterPoll(ClientCommands& commands, Query query);

  void ask_if_due(double now_s);
  void ask_within(double seconds);
  double due_s() const;  ///< monotonic time of the next ask_if_due

  bool silent() const { return failures_ > 0; }
  double asked_s() const { return asked_s_; }  ///< time of the query that was last answered

 private:
  void hear(const ClientAnswer& answer, double asked_s);

  ClientCommands& commands_;
  Query query_;
  bool asking_ = false;
  double due_s_ = 0;
  double asked_s_ = 0;
  int failures_ = 0;  ///< consecutive failures
};

/// Timeout of a cluster's clients.
inline constexpr double kClusterAnswer_s = 20;

}  // namespace doetune::runner
