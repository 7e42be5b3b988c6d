#include "runner/ask_program.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include <array>

#include "runner/clock.h"
#include "runner/process.h"

namespace doetune::runner {
namespace {

/// Reads until the end, the deadline or the limit. True at the end.
bool read_all(const Descriptor& pipe, double deadline_s, std::size_t most_bytes,
              std::string& text) {
  std::array<char, 4096> buffer;
  while (text.size() < most_bytes) {
    const double left_s = deadline_s - monotonic_s();
    pollfd readable{pipe.get(), POLLIN, 0};
    if (left_s <= 0 || ::poll(&readable, 1, static_cast<int>(left_s * 1000) + 1) == 0) return false;
    const ssize_t got = ::read(pipe.get(), buffer.data(), buffer.size());
    if (got == 0) return true;
    if (got > 0) text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  return false;
}

}  // namespace

Answer ask_program(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                   const std::filesystem::path& working_directory, double timeout_s,
                   std::size_t most_bytes) {
  Attempt attempt;
  attempt.program = program;
  attempt.arguments = {program.string()};
  attempt.arguments.insert(attempt.arguments.end(), arguments.begin(), arguments.end());
  attempt.working_directory = working_directory;
  StartResult started = start_process(attempt);
  Answer answer;
  if (!started.process) {
    answer.problem = started.error;
    return answer;
  }
  answer.complete =
      read_all(started.process->output, monotonic_s() + timeout_s, most_bytes, answer.text);
  ::kill(-started.process->pid, SIGKILL);
  ::waitpid(started.process->pid, nullptr, 0);
  return answer;
}

}  // namespace doetune::runner
