#include "runner/attempts/command.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/clock.h"
#include "base/file_descriptor.h"
#include "runner/attempts/process.h"
#include "runner/processes/output_text.h"

namespace doetune::runner {
namespace {

constexpr std::size_t kMaxBytes = 1 << 20;
constexpr double kDrain_s = 1;  ///< for output left in the pipes of a program that has ended

/// Reads what is available; closes the pipe at its end. Output beyond the limit is discarded.
void read_some(FileDescriptor& pipe, std::string& text) {
  std::array<char, 1 << 14> buffer;
  const ssize_t got = ::read(pipe.get(), buffer.data(), buffer.size());
  if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) pipe.close();
  const std::size_t capacity = kMaxBytes - text.size();
  if (got > 0) text.append(buffer.data(), std::min(static_cast<std::size_t>(got), capacity));
}

/// Reads until the program has ended and its pipes are empty; false at the deadline. Does not wait
/// for pipes that other processes keep open.
bool read_until_end(Process& process, double deadline_s, CommandResult& result) {
  for (bool ended = false;;) {
    std::array<pollfd, 3> events{pollfd{ended ? -1 : process.handle.get(), POLLIN, 0},
                                 pollfd{process.output.get(), POLLIN, 0},
                                 pollfd{process.errors.get(), POLLIN, 0}};
    const double left_s = deadline_s - monotonic_s();
    const int ready = ::poll(events.data(), events.size(), ended ? 0 : to_milliseconds(left_s));
    if (ready == 0 && ended) return true;
    if (left_s <= 0 && events[0].revents == 0) return ended;
    if (!ended && events[0].revents != 0) {  // perhaps long ago, if this process was suspended
      ended = true;
      deadline_s = std::max(deadline_s, monotonic_s() + kDrain_s);
    }
    if (process.output.is_open() && events[1].revents != 0)
      read_some(process.output, result.output);
    if (process.errors.is_open() && events[2].revents != 0)
      read_some(process.errors, result.errors);
    if (ended && !process.output.is_open() && !process.errors.is_open()) return true;
  }
}

}  // namespace

CommandResult run_command(const Command& command) {
  Attempt attempt;
  attempt.program = command.program;
  attempt.arguments = command.arguments;
  attempt.environment = command.environment;
  attempt.working_directory = command.working_directory;
  StartResult started = start_process(attempt);
  CommandResult result;
  if (!started.process) {
    result.problem = started.error;
    return result;
  }
  Process& process = *started.process;
  const bool ended = read_until_end(process, monotonic_s() + command.time_limit_s, result);
  ::kill(-process.pid, SIGKILL);
  int status = 0;
  ::waitpid(process.pid, &status, 0);
  if (!ended) {
    result.problem = fmt::format("did not end in {} s", command.time_limit_s);
  } else if (WIFEXITED(status)) {
    result.exit_code = WEXITSTATUS(status);
  }
  return result;
}

std::string failure_text(const CommandResult& result) {
  if (result.exit_code == 0) return "";
  const std::string how = !result.problem.empty() ? result.problem
                          : result.exit_code      ? fmt::format("exit code {}", *result.exit_code)
                                                  : "ended by a signal";
  const std::string words = printable(last_line(result.errors));
  return fmt::format("{}{}{}", how, words.empty() ? "" : ": ", words);
}

}  // namespace doetune::runner
