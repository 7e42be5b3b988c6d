// Commands of a cluster's clients (sbatch, squeue, ssh, ...), several at once, waited for together.
#pragma once

#include <functional>
#include <list>
#include <string>
#include <vector>

#include "base/file_descriptor.h"
#include "runner/attempts/process.h"

namespace doetune::runner {

/// What became of a command.
struct ClientAnswer {
  bool answered = false;  ///< false: it did not end in time, or ended by a signal
  int status = 0;         ///< its exit code, where it answered
  std::string output;
  std::string errors;
  bool cut = false;  ///< there was more output than is kept

  bool ok() const { return answered && status == 0 && !cut; }
  /// The last line of what it said of errors, or that it said nothing; without control characters.
  std::string words() const;
};

/// Starts commands and waits for whichever ends: never for a single one, for a cluster's client may
/// take long, or never answer. A command that is not over at its deadline is killed. They read
/// nothing, take no part in the terminal's Ctrl-C, and die with the calling thread.
class ClientCommands {
 public:
  using Handler = std::function<void(const ClientAnswer&)>;

  ClientCommands();
  ~ClientCommands();  ///< kills what still runs
  ClientCommands(const ClientCommands&) = delete;
  ClientCommands& operator=(const ClientCommands&) = delete;

  /// Starts a program of PATH. The handler is called from wait(), once, also where it could not be
  /// started: then it answered with status 127. `deadline_s`: from now; infinite for none.
  /// Returns its number, for stop().
  int start(const std::vector<std::string>& arguments, double deadline_s, Handler handler);

  /// Kills a command, by the next wait; its handler hears that it did not answer.
  void stop(int number);

  std::size_t running() const { return running_.size(); }

  /// Until a command has ended, `wake` is readable (-1: none) or monotonic time `until_s` is there;
  /// then calls the handlers of all that have ended. They may start further commands.
  void wait(double until_s, int wake);

 private:
  struct Running {
    int number;
    Process process;
    double deadline_s;
    Handler handler;
    ClientAnswer answer;
  };

  void watch(int descriptor);
  bool advance(Running& running, double now_s);

  FileDescriptor events_;
  int last_number_ = 0;
  std::list<Running> running_;
  std::list<Running> ended_;  ///< could not be started; told by the next wait
};

}  // namespace doetune::runner
