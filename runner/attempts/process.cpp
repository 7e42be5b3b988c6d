#include "runner/attempts/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <vector>

#include "base/file_descriptor.h"

extern char** environ;

namespace doetune::runner {
namespace {

struct Pipe {
  FileDescriptor read;
  FileDescriptor write;
};

std::optional<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return std::nullopt;
  return Pipe{FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

/// Strings in the form required by execve; they must outlive the result.
std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> result;
  for (std::string& text : strings) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

std::vector<std::string> environment_of(const Attempt& attempt, std::optional<ProcessMark> mark) {
  std::map<std::string, std::string> own = attempt.environment;
  if (mark) own[kMarkVariable] = mark_text(*mark);
  std::vector<std::string> entries;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text(*entry);
    if (own.count(text.substr(0, text.find('='))) == 0) entries.push_back(text);
  }
  for (const auto& [name, value] : own) entries.push_back(name + "=" + value);
  return entries;
}

/// An error in the child before it executed the program.
struct ChildError {
  enum Step : int { kDirectory, kRedirection, kProgram } step = kDirectory;
  int error = 0;
};

/// Everything the child needs, prepared before the fork: until exec the child shares this process'
/// memory and may make async-signal-safe calls only.
struct ChildPlan {
  const char* program;
  char* const* arguments;
  char* const* environment;
  const char* working_directory;
  const cpu_set_t* cpus;  ///< null: not bound
  std::optional<ProcessMark> mark;
  int end_signal;
  int output;
  int errors;
  int report;
  pid_t parent;
};

[[noreturn]] void give_up(const ChildPlan& plan, ChildError::Step step) {
  const ChildError error{step, errno};
  [[maybe_unused]] const ssize_t written = ::write(plan.report, &error, sizeof error);
  ::_exit(127);
}

void reset_signals() {
  struct sigaction defaults {};
  defaults.sa_handler = SIG_DFL;
  for (int signal = 1; signal < NSIG; ++signal) ::sigaction(signal, &defaults, nullptr);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

[[noreturn]] void become_program(const ChildPlan& plan) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, plan.end_signal);
  if (::getppid() != plan.parent) ::_exit(127);  // the runner died before the previous line
  reset_signals();
  if (plan.cpus != nullptr) ::sched_setaffinity(0, sizeof *plan.cpus, plan.cpus);
  if (plan.mark) set_mark(*plan.mark);
  if (::chdir(plan.working_directory) != 0) give_up(plan, ChildError::kDirectory);
  const int empty = ::open("/dev/null", O_RDONLY);
  if (empty < 0 || ::dup2(empty, 0) < 0 || ::dup2(plan.output, 1) < 0 ||
      ::dup2(plan.errors, 2) < 0) {
    give_up(plan, ChildError::kRedirection);
  }
  ::close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
  ::execve(plan.program, plan.arguments, plan.environment);
  give_up(plan, ChildError::kProgram);
}

/// Creates a child that shares this process' memory until exec: a copy would take time proportional
/// to the memory of this process. This thread waits meanwhile. No signal handler may run in the
/// child, so all signals are blocked until it has reset them.
pid_t fork_into(const ChildPlan& plan) {
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t pid = ::vfork();
  if (pid == 0) become_program(plan);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return pid;
}

std::string explain(const ChildError& error, const Attempt& attempt) {
  const char* what = std::strerror(error.error);
  switch (error.step) {
    case ChildError::kDirectory:
      return fmt::format("cannot start in {}: {}", attempt.working_directory.string(), what);
    case ChildError::kRedirection:
      return fmt::format("cannot redirect its output: {}", what);
    case ChildError::kProgram:
      break;
  }
  return fmt::format(
      "cannot start {}: {}{}", attempt.program.string(), what,
      error.error == ENOEXEC ? " (a script needs a first line such as #!/bin/sh)" : "");
}

StartResult no_process(std::string_view step) {
  return {std::nullopt, fmt::format("cannot {}: {}", step, std::strerror(errno))};
}

}  // namespace

StartResult start_process(const Attempt& attempt, std::optional<ProcessMark> mark, int end_signal) {
  std::vector<std::string> arguments = attempt.arguments;
  std::vector<std::string> environment = environment_of(attempt, mark);
  const std::vector<char*> argument_pointers = pointers(arguments);
  const std::vector<char*> environment_pointers = pointers(environment);
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  for (const int cpu : attempt.cpus) CPU_SET(cpu, &cpus);

  auto output = make_pipe();
  auto errors = make_pipe();
  auto report = make_pipe();
  if (!output || !errors || !report) return no_process("create pipes");

  const ChildPlan plan{attempt.program.c_str(),
                       argument_pointers.data(),
                       environment_pointers.data(),
                       attempt.working_directory.c_str(),
                       attempt.cpus.empty() ? nullptr : &cpus,
                       mark,
                       end_signal,
                       output->write.get(),
                       errors->write.get(),
                       report->write.get(),
                       ::getpid()};
  const pid_t pid = fork_into(plan);
  if (pid < 0) return no_process("start a process");

  ::setpgid(pid, pid);  // also here: the group must exist before it can be killed
  report->write.close();
  ChildError error;
  ssize_t got = 0;
  do {
    got = ::read(report->read.get(), &error, sizeof error);
  } while (got < 0 && errno == EINTR);
  if (got == sizeof error) {
    ::waitpid(pid, nullptr, 0);
    return {std::nullopt, explain(error, attempt)};
  }
  Process process{pid, open_process(pid), std::move(output->read), std::move(errors->read)};
  if (!process.handle.is_open()) {
    const StartResult failure = no_process("watch a process");
    ::kill(-pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    return {std::nullopt, failure.error};
  }
  ::fcntl(process.output.get(), F_SETFL, O_NONBLOCK);
  ::fcntl(process.errors.get(), F_SETFL, O_NONBLOCK);
  return {std::move(process), ""};
}

}  // namespace doetune::runner
