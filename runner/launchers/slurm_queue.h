// The state of Slurm jobs, polled for all of them at once with `squeue`.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "runner/attempts/attempt.h"
#include "runner/launchers/cluster_poll.h"

namespace doetune::runner {

/// A job as squeue lists it.
struct SlurmJob {
  std::string id;
  std::string state;   ///< full name, e.g. RUNNING
  std::string node;    ///< or a list in Slurm's notation; empty before allocation
  std::string reason;  ///< why it is pending, or ended
  std::string name;
};

/// Jobs by name, from `squeue -o kSqueueFormat`. Empty optional if the text is not such a list. Of
/// two jobs with the same name, the one that is not over counts.
std::optional<std::map<std::string, SlurmJob>> parse_squeue(std::string_view text);
inline constexpr const char* kSqueueFormat = "%i|%T|%N|%r|%j";

/// Whether a job in this state is over; false for unknown states, since Slurm adds new ones.
bool is_final(const SlurmJob& job);

/// Whether it waits for something that will not happen by itself, such as more nodes than exist.
bool never_starts(const SlurmJob& job);

/// Whether a heartbeat is expected: Slurm lists it as neither over nor suspended.
bool should_beat(const SlurmJob& job);

/// Whether the node may have caused the loss of a job in this state: not if the job was ended on
/// purpose.
bool is_nodes_fault(const SlurmJob& job);

/// The end of an attempt whose job is over and that has no `exit` file. `claimed`: doetune-attempt
/// began; `words`: its last message, may be empty.
AttemptEnd end_without_exit(const SlurmJob& job, bool claimed, const std::string& words);

/// Asks squeue through a launcher's commands.
class SlurmQueue {
 public:
  using Note = std::function<void(const std::string&)>;

  /// `heard` is called after each answer.
  SlurmQueue(ClientCommands& commands, double poll_s, Note note, std::function<void()> heard);

  void ask_if_due(double now_s) { poll_.ask_if_due(now_s); }
  void ask_within(double seconds) { poll_.ask_within(seconds); }
  double due_s() const { return poll_.due_s(); }
  bool silent() const { return poll_.silent(); }
  double asked_s() const { return poll_.asked_s(); }
  const SlurmJob* find(const std::string& name) const;
  const std::map<std::string, SlurmJob>& jobs() const { return jobs_; }  ///< of this user, by name

 private:
  bool read(const ClientAnswer& answer);

  std::map<std::string, SlurmJob> jobs_;
  ClusterPoll poll_;
};

}  // namespace doetune::runner
