#include "workloads/communication/launch.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <system_error>
#include <thread>

#include "workloads/communication/group.h"
#include "workloads/stream/executor_pool.h"

namespace doetune::workloads {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kGrace = std::chrono::seconds(2);  // for the others when one has failed

std::vector<std::string> own_arguments() {
  std::ifstream in("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> arguments;
  for (std::string argument; std::getline(in, argument, '\0');) arguments.push_back(argument);
  return arguments;
}

void bind_to(const std::vector<int>& cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus) CPU_SET(cpu, &set);
  sched_setaffinity(0, sizeof set, &set);
}

class Ranks {
 public:
  Ranks(int ranks, const std::vector<int>& cpus)
      : ranks_(ranks), listener_(listen_at({"127.0.0.1", 0})) {
    const int threads = std::max(1, static_cast<int>(cpus.size()) / ranks);
    for (int rank = 0; rank < ranks; ++rank) start(rank, cpus_of(cpus, rank, ranks), threads);
    listener_.reset();
  }

  ~Ranks() {
    for (const pid_t pid : pids_)
      if (pid > 0) {
        kill(pid, SIGKILL);
        waitpid(pid, nullptr, 0);
      }
  }

  void wait() {
    Clock::time_point killed = Clock::time_point::max();
    while (std::ranges::any_of(pids_, [](pid_t pid) { return pid > 0; })) {
      bool ended = false;
      for (int rank = 0; rank < ranks_; ++rank) ended = reap(rank) || ended;
      if (ended && !failures_.empty() && killed == Clock::time_point::max())
        killed = Clock::now() + kGrace;
      if (Clock::now() > killed) break;
      if (!ended) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    if (!failures_.empty()) report();
  }

 private:
  struct Failure {
    int rank;
    int status;
  };

  void start(int rank, const std::vector<int>& cpus, int threads) {
    const auto arguments = own_arguments();
    const pid_t launcher = getpid();
    const pid_t pid = fork();
    if (pid < 0) throw std::system_error(errno, std::generic_category(), "cannot start a rank");
    if (pid == 0) become(rank, launcher, cpus, threads, arguments);
    pids_.push_back(pid);
  }

  [[noreturn]] void become(int rank, pid_t launcher, const std::vector<int>& cpus, int threads,
                           const std::vector<std::string>& arguments) const {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != launcher) _exit(kExitFailed);  // it ended before the line above
    bind_to(cpus);
    const auto set = [](const char* name, const std::string& value, bool replace = true) {
      setenv(name, value.c_str(), replace ? 1 : 0);
    };
    set("DOETUNE_RANK", std::to_string(rank));
    set("DOETUNE_RANKS", std::to_string(ranks_));
    set("DOETUNE_LOCAL_RANK", std::to_string(rank));
    set("DOETUNE_RENDEZVOUS", to_text(local_address(listener_.get())));
    if (rank == 0) {
      fcntl(listener_.get(), F_SETFD, 0);
      set("DOETUNE_LISTENER", std::to_string(listener_.get()));
    }
    // As for executors (executor_pool.cpp): threads that wait in a long spin take the CPU from
    // others.
    set("OMP_NUM_THREADS", std::to_string(threads));
    set("GOMP_SPINCOUNT", "1000", false);
    std::vector<char*> argv;
    for (const std::string& argument : arguments)
      argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    execv("/proc/self/exe", argv.data());
    _exit(127);
  }

  /// Takes in a rank that has ended; whether it had.
  bool reap(int rank) {
    int status = 0;
    if (pids_[rank] <= 0 || waitpid(pids_[rank], &status, WNOHANG) == 0) return false;
    pids_[rank] = -1;
    if (status != 0) failures_.push_back({rank, status});
    return true;
  }

  /// A rank that a signal ended is the cause; those that only lost it end with a code.
  [[noreturn]] void report() const {
    const auto signalled = [](const Failure& failure) { return WIFSIGNALED(failure.status); };
    const auto found = std::ranges::find_if(failures_, signalled);
    const Failure& first = found == failures_.end() ? failures_.front() : *found;
    const std::string who = rank_name(first.rank, ranks_);
    if (WIFSIGNALED(first.status)) {
      const int signal = WTERMSIG(first.status);
      if (signal == SIGKILL && out_of_memory_kills() > out_of_memory_kills_)
        throw Infeasible(who + " was killed for want of memory: fewer ranks or smaller batches");
      throw std::runtime_error(
          fmt::format("{} was ended by signal {} ({})", who, signal, strsignal(signal)));
    }
    const int code = WEXITSTATUS(first.status);
    if (code == kExitUsage) throw UsageError(who + " says what is wrong above");
    if (code == kExitInfeasible)
      throw Infeasible(who + " cannot run with these settings; see above");
    throw std::runtime_error(fmt::format("{} ended with exit code {}", who, code));
  }

  int ranks_;
  FileDescriptor listener_;
  std::vector<pid_t> pids_;
  std::vector<Failure> failures_;
  std::int64_t out_of_memory_kills_ = out_of_memory_kills();
};

}  // namespace

void launch_ranks(int ranks, const std::vector<int>& cpus) { Ranks(ranks, cpus).wait(); }

}  // namespace doetune::workloads
