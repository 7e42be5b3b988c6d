// Runs several commands of cluster clients (sbatch, squeue, ssh, ...) concurrently.
#pragma once

#include <signal.h>

#include <functional>
#include <list>
#include <string>
#include <vector>

#include "base/file_descriptor.h"
#include "runner/attempts/process.h"

namespace doetune::runner {

/// Result of a command.
struct ClientAnswer {
  bool answered = false;  ///< false if it missed its deadline or ended by a signal
  int status = 0;         ///< its exit code, if `answered`
  std::string output;
  std::string errors;
  bool cut = false;  ///< output beyond the size limit was dropped

  bool ok() const { return answered && status == 0 && !cut; }
  /// The last line of standard error, or a text that there was none; without control characters.
  std::string words() const;
  /// The same of the first line, where the last one is the client's about itself (rsync, tar).
  std::string first_words() const;
};

/// Starts commands and waits for whichever ends first, since a cluster client may take long or
/// never answer. A command is killed at its deadline. Commands have empty input, do not receive the
/// terminal's Ctrl-C, and get their end signal when the calling thread ends.
class ClientCommands {
 public:
  using Handler = std::function<void(const ClientAnswer&)>;

  ClientCommands();
  ~ClientCommands();  ///< kills running commands
  ClientCommands(const ClientCommands&) = delete;
  ClientCommands& operator=(const ClientCommands&) = delete;

  /// Starts a program from PATH. wait() calls the handler exactly once; if the program cannot be
  /// started, as answered with status 127. `deadline_s` is relative to now; infinity for none.
  /// Returns a number for stop(). The end signal may be SIGTERM for a client that has to end what
  /// it started elsewhere.
  int start(const std::vector<std::string>& arguments, double deadline_s, Handler handler,
            int end_signal = SIGKILL);

  /// Ends a command by its end signal, and kills it in a wait() 10 s later if it is still there;
  /// its handler gets `answered` = false.
  void stop(int number);

  std::size_t running() const { return running_.size(); }

  /// Waits until a command has ended, `wake` is readable (-1: none) or monotonic time `until_s` is
  /// reached; then calls the handlers of all commands that have ended. Handlers may start commands.
  void wait(double until_s, int wake);

 private:
  struct Running {
    int number;
    Process process;
    int end_signal;
    double deadline_s;
    Handler handler;
    ClientAnswer answer;
    bool stopped = false;
  };

  void watch(int descriptor);
  bool advance(Running& running, double now_s);

  FileDescriptor events_;
  int last_number_ = 0;
  std::list<Running> running_;
  std::list<Running> ended_;  ///< not started; reported by the next wait
};

}  // namespace doetune::runner
