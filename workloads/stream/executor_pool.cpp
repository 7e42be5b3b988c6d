#include "workloads/stream/executor_pool.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
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

#include "workloads/protocol/protocol.h"

namespace doetune::workloads {
namespace {

using Clock = std::chrono::steady_clock;

cpu_set_t to_set(const std::vector<int>& cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus) CPU_SET(cpu, &set);
  return set;
}

/// In the new process: tie its life to the coordinator's, take its CPUs, become the executor.
[[noreturn]] void become_executor(pid_t coordinator, int socket, const std::vector<int>& kept,
                                  const cpu_set_t& cpus, int threads) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != coordinator) _exit(kExitFailed);  // it ended before the line above
  for (const int fd : kept) fcntl(fd, F_SETFD, 0);
  sched_setaffinity(0, sizeof cpus, &cpus);
  setenv("OMP_NUM_THREADS", std::to_string(threads).c_str(), 1);
  // Threads that wait in a long spin, libgomp's way when it is not told, make inference several
  // times slower as soon as anything else runs on their CPUs; a short spin costs nothing on quiet
  // ones.
  setenv("GOMP_SPINCOUNT", "1000", 0);
  const std::string descriptor = std::to_string(socket);
  execl("/proc/self/exe", "doetune-executor", "--executor", descriptor.c_str(), nullptr);
  _exit(127);
}

}  // namespace

std::int64_t out_of_memory_kills() {
  std::ifstream counters("/proc/vmstat");
  std::string name;
  for (std::int64_t value = 0; counters >> name >> value;)
    if (name == "oom_kill") return value;
  return 0;
}

std::vector<int> usable_cpus(const std::vector<int>& assigned) {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  sched_getaffinity(0, sizeof allowed, &allowed);
  std::vector<int> cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &allowed) &&
        (assigned.empty() || std::ranges::find(assigned, cpu) != assigned.end()))
      cpus.push_back(cpu);
  if (cpus.empty()) throw UsageError("none of the assigned CPUs may be used by this process");
  return cpus;
}

std::vector<int> cpus_of(const std::vector<int>& cpus, int index, int executors) {
  const std::size_t count = cpus.size();
  if (count < static_cast<std::size_t>(executors)) return cpus;
  return {cpus.begin() + count * index / executors, cpus.begin() + count * (index + 1) / executors};
}

ExecutorPool::ExecutorPool(int executors, const std::vector<int>& cpus,
                           const std::function<ExecutorConfig(int)>& config)
    : out_of_memory_kills_(out_of_memory_kills()) {
  try {
    for (int e = 0; e < executors; ++e) start(cpus_of(cpus, e, executors), config(e));
    receive_all<std::int64_t>([](std::size_t, std::int64_t) {});
  } catch (...) {
    stop(std::chrono::milliseconds(0));
    throw;
  }
}

ExecutorPool::~ExecutorPool() { stop(std::chrono::milliseconds(2000)); }

void ExecutorPool::start(const std::vector<int>& cpus, const ExecutorConfig& config) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    throw std::system_error(errno, std::generic_category(), "cannot make a socket for an executor");
  FileDescriptor ours(ends[0]);
  const FileDescriptor theirs(ends[1]);
  const cpu_set_t set = to_set(cpus);
  const pid_t coordinator = getpid();
  const pid_t pid = fork();
  if (pid < 0) throw std::system_error(errno, std::generic_category(), "cannot start an executor");
  if (pid == 0)
    become_executor(coordinator, theirs.get(), {theirs.get(), config.weights_fd, config.clip_fd},
                    set, config.compile.threads);
  processes_.push_back({pid, std::move(ours)});
  const std::string text = to_text(config);
  send(processes_.back().socket.get(), text.data(), text.size(), MSG_NOSIGNAL);
}

template <class T, class Take>
void ExecutorPool::receive_all(Take take) {
  std::vector<pollfd> waiting;
  for (const Process& process : processes_) waiting.push_back({process.socket.get(), POLLIN, 0});
  for (std::size_t missing = waiting.size(); missing > 0;) {
    if (poll(waiting.data(), waiting.size(), -1) < 0) continue;  // a signal
    for (std::size_t e = 0; e < waiting.size(); ++e) {
      if (waiting[e].fd < 0 || waiting[e].revents == 0) continue;
      T packet{};
      if (recv(waiting[e].fd, &packet, sizeof packet, 0) != static_cast<ssize_t>(sizeof packet))
        report_death(e);
      take(e, packet);
      waiting[e].fd = -1;  // poll skips it from now on
      --missing;
    }
  }
}

std::vector<ShareReport> ExecutorPool::run(std::int64_t micro_batch) {
  for (const Process& process : processes_)
    send(process.socket.get(), &micro_batch, sizeof micro_batch,
         MSG_NOSIGNAL);  // a death shows on receipt
  std::vector<ShareReport> reports(processes_.size());
  receive_all<ShareReport>([&](std::size_t e, const ShareReport& report) { reports[e] = report; });
  return reports;
}

void ExecutorPool::wait_until(TimePoint time) {
  std::vector<pollfd> waiting;
  for (const Process& process : processes_) waiting.push_back({process.socket.get(), POLLIN, 0});
  for (auto left = time - Clock::now(); left > Clock::duration::zero();
       left = time - Clock::now()) {
    const auto nanoseconds = std::chrono::duration_cast<std::chrono::nanoseconds>(left).count();
    const timespec timeout{nanoseconds / 1'000'000'000, nanoseconds % 1'000'000'000};
    if (ppoll(waiting.data(), waiting.size(), &timeout, nullptr) <= 0) continue;
    for (std::size_t e = 0; e < waiting.size(); ++e)
      if (waiting[e].revents != 0) report_death(e);  // idle executors have nothing to say
  }
}

void ExecutorPool::report_death(std::size_t executor) {
  int status = 0;
  waitpid(std::exchange(processes_[executor].pid, -1), &status, 0);
  const std::string who = fmt::format("executor {} of {}", executor, processes_.size());
  const bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
  if (WIFEXITED(status) && WEXITSTATUS(status) == kExitInfeasible)
    throw Infeasible(who + " cannot run with these settings; its message is above");
  if (killed && out_of_memory_kills() > out_of_memory_kills_)
    throw Infeasible(
        who + " was killed for want of memory: fewer executors or smaller batches take less");
  if (WIFSIGNALED(status))
    throw std::runtime_error(fmt::format("{} was ended by signal {} ({})", who, WTERMSIG(status),
                                         strsignal(WTERMSIG(status))));
  throw std::runtime_error(fmt::format("{} ended with exit code {}", who, WEXITSTATUS(status)));
}

void ExecutorPool::stop(std::chrono::milliseconds grace) {
  for (Process& process : processes_) process.socket.reset();
  const auto deadline = Clock::now() + grace;
  for (const Process& process : processes_) {
    if (process.pid < 0) continue;
    while (waitpid(process.pid, nullptr, WNOHANG) == 0) {
      if (Clock::now() >= deadline) kill(process.pid, SIGKILL);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
}

}  // namespace doetune::workloads
