// What Slurm says of jobs: `squeue`, asked now and then for all of them at once.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "runner/attempts/attempt.h"
#include "runner/launchers/client_command.h"

namespace doetune::runner {

/// A job as squeue lists it.
struct SlurmJob {
  std::string id;
  std::string state;   ///< in full, e.g. RUNNING
  std::string node;    ///< or several, as Slurm writes them; empty: none yet
  std::string reason;  ///< why it waits, or ended
  std::string name;
};

/// Jobs by name, out of `squeue -o kSqueueFormat`. Empty optional: this is no such list. Where two
/// jobs have one name, the one that is not over counts.
std::optional<std::map<std::string, SlurmJob>> parse_squeue(std::string_view text);
inline constexpr const char* kSqueueFormat = "%i|%T|%N|%r|%j";

/// Whether a job of this state is over. One that is not known is not: states are added.
bool is_final(const SlurmJob& job);

/// Whether it waits for something that will not come by itself, such as nodes that there are not.
bool never_starts(const SlurmJob& job);

/// Whether it runs, as far as Slurm knows, and has not been stopped for a while.
bool should_beat(const SlurmJob& job);

/// Whether a job that was lost in this state speaks against its node: not where somebody ended it.
bool is_nodes_fault(const SlurmJob& job);

/// How an attempt without an `exit` file ended whose job is over. `claimed`: doetune-attempt began;
/// `words`: the last it said, may be empty.
AttemptEnd end_without_exit(const SlurmJob& job, bool claimed, const std::string& words);

/// Polls squeue by way of a launcher's commands. A controller that does not answer is asked less
/// and less often, and the user hears once that it is silent, and once that it is back.
class SlurmQueue {
 public:
  using Note = std::function<void(const std::string&)>;

  /// `heard` is called after each answer.
  SlurmQueue(ClientCommands& commands, double poll_s, Note note, std::function<void()> heard);

  void ask_if_due(double now_s);
  void ask_within(double seconds);
  double due_s() const;  ///< monotonic: when to call ask_if_due next

  bool silent() const { return failures_ > 0; }
  double asked_s() const { return asked_s_; }  ///< when the last answer was asked for
  const SlurmJob* find(const std::string& name) const;
  const std::map<std::string, SlurmJob>& jobs() const { return jobs_; }  ///< of this user, by name

 private:
  void hear(const ClientAnswer& answer, double asked_s);

  ClientCommands& commands_;
  double poll_s_;
  Note note_;
  std::function<void()> heard_;
  std::map<std::string, SlurmJob> jobs_;
  bool asking_ = false;
  double due_s_ = 0;
  double asked_s_ = 0;
  int failures_ = 0;  ///< in a row
};

/// A client that does not answer in this time does not answer.
inline constexpr double kSlurmAnswer_s = 20;

}  // namespace doetune::runner
