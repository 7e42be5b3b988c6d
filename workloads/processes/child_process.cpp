#include "workloads/processes/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <system_error>
#include <thread>

#include "base/clock.h"
#include "base/file_descriptor.h"
#include "workloads/processes/cpus.h"
#include "workloads/protocol/protocol.h"

namespace doetune::workloads {
namespace {

/// The number of processes that the kernel has killed for lack of memory; 0 where unknown.
std::int64_t out_of_memory_kills() {
  std::ifstream counters("/proc/vmstat");
  std::string name;
  for (std::int64_t value = 0; counters >> name >> value;)
    if (name == "oom_kill") return value;
  return 0;
}

/// In the new process: ends it with its parent, and executes the program.
[[noreturn]] void become(const ChildStart& start, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, start.end_signal);
  if (getppid() != parent) _exit(kExitFailed);  // the parent ended before the line above
  for (const int file : start.files) fcntl(file, F_SETFD, 0);
  if (!start.cpus.empty()) use_cpus(start.cpus);
  for (const auto& [name, value] : start.environment) setenv(name.c_str(), value.c_str(), 1);
  setenv("OMP_NUM_THREADS", std::to_string(start.threads).c_str(), 1);
  // Threads that spin for long while waiting, libgomp's default, make inference several times
  // slower as soon as anything else runs on their CPUs; a short spin costs nothing on idle ones.
  setenv("GOMP_SPINCOUNT", "1000", 0);
  std::vector<char*> arguments;
  for (const std::string& argument : start.arguments)
    arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  execvp(start.program.c_str(), arguments.data());
  _exit(127);
}

}  // namespace

ChildProcess::ChildProcess(const ChildStart& start) : out_of_memory_kills_(out_of_memory_kills()) {
  const pid_t parent = getpid();
  signal(SIGCHLD, SIG_DFL);  // an inherited SIG_IGN would hide the child's status
  pid_ = fork();
  if (pid_ < 0) throw std::system_error(errno, std::generic_category(), "cannot start a process");
  if (pid_ == 0) become(start, parent);
}

ChildProcess::~ChildProcess() { end_by(Clock::time_point::min()); }

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : pid_(other.pid_),
      status_(other.status_),
      ended_(std::exchange(other.ended_, true)),
      out_of_memory_kills_(other.out_of_memory_kills_) {}

ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(status_, other.status_);
  std::swap(ended_, other.ended_);
  std::swap(out_of_memory_kills_, other.out_of_memory_kills_);
  return *this;
}

bool ChildProcess::ended() {
  ended_ = ended_ || waitpid(pid_, &status_, WNOHANG) != 0;
  return ended_;
}

void ChildProcess::wait() {
  if (!std::exchange(ended_, true)) waitpid(pid_, &status_, 0);
}

void ChildProcess::end_by(Clock::time_point deadline) {
  while (!ended()) {
    if (Clock::now() >= deadline) kill(pid_, SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

bool ChildProcess::ended_by_signal() const { return WIFSIGNALED(status_); }

void ChildProcess::report(const std::string& who, const std::string& takes_less) const {
  const int code = WEXITSTATUS(status_);
  // mpirun passes on a rank's signal as shells do.
  if (const int signal = WIFSIGNALED(status_) ? WTERMSIG(status_) : std::max(0, code - 128)) {
    if (signal == SIGKILL && out_of_memory_kills() > out_of_memory_kills_)
      throw Infeasible(who + " was killed because memory ran out: " + takes_less);
    throw std::runtime_error(
        fmt::format("{} was ended by signal {} ({})", who, signal, strsignal(signal)));
  }
  if (code == kExitUsage) throw UsageError(who + " printed its error above");
  if (code == kExitInfeasible)
    throw Infeasible(who + " cannot run with these settings; its message is above");
  throw std::runtime_error(fmt::format("{} ended with exit code {}", who, code));
}

std::pair<FileDescriptor, FileDescriptor> connected_sockets() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    throw std::system_error(errno, std::generic_category(), "cannot make a socket for a process");
  return {FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

}  // namespace doetune::workloads
