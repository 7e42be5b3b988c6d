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
#include <utility>

#include "workloads/protocol/protocol.h"

namespace doetune::workloads {
namespace {

using Clock = std::chrono::steady_clock;

/// In the new process: tie its life to the coordinator's, become the executors. `kept` are the
/// descriptors that they need.
[[noreturn]] void become_executors(pid_t coordinator, std::vector<char*> arguments,
                                   const std::vector<int>& kept, const PoolLayout& layout,
                                   int threads) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != coordinator) _exit(kExitFailed);  // it ended before the line above
  for (const int fd : kept) fcntl(fd, F_SETFD, 0);
  for (const auto& [name, value] : layout.environment) setenv(name.c_str(), value.c_str(), 1);
  setenv("OMP_NUM_THREADS", std::to_string(threads).c_str(), 1);
  // Threads that wait in a long spin, libgomp's way when it is not told, make inference several
  // times slower as soon as anything else runs on their CPUs; a short spin costs nothing on quiet
  // ones.
  setenv("GOMP_SPINCOUNT", "1000", 0);
  arguments.push_back(nullptr);
  execv("/proc/self/exe", arguments.data());
  _exit(127);
}

/// The two ends of a connection.
std::pair<FileDescriptor, FileDescriptor> connect_ends() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    throw std::system_error(errno, std::generic_category(), "cannot make a socket for an executor");
  return {FileDescriptor(ends[0]), FileDescriptor(ends[1])};
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

ExecutorPool::ExecutorPool(const PoolLayout& layout,
                           const std::function<ExecutorConfig(int)>& config)
    : out_of_memory_kills_(out_of_memory_kills()) {
  try {
    for (int first = 0; first < layout.executors; first += layout.per_process)
      start(layout, first, config);
    receive_all<Ready>([&](const Ready& ready) {
      engine_ = std::string(ready.engine, strnlen(ready.engine, sizeof ready.engine));
      device_bytes_ += ready.device_bytes;
    });
  } catch (...) {
    stop(std::chrono::milliseconds(0));
    throw;
  }
}

ExecutorPool::~ExecutorPool() { stop(std::chrono::milliseconds(2000)); }

void ExecutorPool::start(const PoolLayout& layout, int first,
                         const std::function<ExecutorConfig(int)>& config) {
  const ExecutorConfig shared = config(first);
  std::vector<FileDescriptor> theirs;
  std::vector<int> kept{shared.weights_fd, shared.clip_fd};
  std::vector<std::string> words{"doetune-executor", "--executor"};
  for (int e = first; e < first + layout.per_process; ++e) {
    auto [our_end, their_end] = connect_ends();
    kept.push_back(their_end.get());
    words.push_back(std::to_string(their_end.get()));
    sockets_.push_back(std::move(our_end));
    theirs.push_back(std::move(their_end));
  }
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  const pid_t coordinator = getpid();
  const pid_t pid = fork();
  if (pid < 0) throw std::system_error(errno, std::generic_category(), "cannot start an executor");
  if (pid == 0) become_executors(coordinator, arguments, kept, layout, shared.compile.threads);
  processes_.push_back({pid, first, layout.per_process});
  for (int e = first; e < first + layout.per_process; ++e) {
    const std::string text = to_text(config(e));
    send(sockets_[e].get(), text.data(), text.size(), MSG_NOSIGNAL);
  }
}

template <class T, class Take>
void ExecutorPool::receive_all(Take take) {
  std::vector<pollfd> waiting;
  for (const FileDescriptor& socket : sockets_) waiting.push_back({socket.get(), POLLIN, 0});
  for (std::size_t missing = waiting.size(); missing > 0;) {
    if (poll(waiting.data(), waiting.size(), -1) < 0) continue;  // a signal
    for (std::size_t e = 0; e < waiting.size(); ++e) {
      if (waiting[e].fd < 0 || waiting[e].revents == 0) continue;
      T packet{};
      if (recv(waiting[e].fd, &packet, sizeof packet, 0) != static_cast<ssize_t>(sizeof packet))
        report_death(e);
      take(packet);
      waiting[e].fd = -1;  // poll skips it from now on
      --missing;
    }
  }
}

ShareReport ExecutorPool::run(const Order& order) {
  for (const FileDescriptor& socket : sockets_)
    send(socket.get(), &order, sizeof order, MSG_NOSIGNAL);  // a death shows on receipt
  ShareReport work;
  work.micro_batch = order.micro_batch;
  receive_all<ShareReport>([&](const ShareReport& report) { work += report; });
  return work;
}

void ExecutorPool::wait_until(TimePoint time) {
  std::vector<pollfd> waiting;
  for (const FileDescriptor& socket : sockets_) waiting.push_back({socket.get(), POLLIN, 0});
  for (auto left = time - Clock::now(); left > Clock::duration::zero();
       left = time - Clock::now()) {
    const auto nanoseconds = std::chrono::duration_cast<std::chrono::nanoseconds>(left).count();
    const timespec timeout{nanoseconds / 1'000'000'000, nanoseconds % 1'000'000'000};
    if (ppoll(waiting.data(), waiting.size(), &timeout, nullptr) <= 0) continue;
    for (std::size_t e = 0; e < waiting.size(); ++e)
      if (waiting[e].revents != 0) report_death(e);  // idle executors have nothing to say
  }
}

std::vector<pid_t> ExecutorPool::processes() const {
  std::vector<pid_t> pids;
  for (const Process& process : processes_) pids.push_back(process.pid);
  return pids;
}

void ExecutorPool::report_death(std::size_t executor) {
  Process& process = *std::ranges::find_if(
      processes_, [&](const Process& p) { return static_cast<int>(executor) < p.first + p.count; });
  int status = 0;
  waitpid(std::exchange(process.pid, -1), &status, 0);
  const std::string who =
      process.count == 1 ? fmt::format("executor {} of {}", executor, sockets_.size())
                         : fmt::format("the process of executors {} to {}, of {},", process.first,
                                       process.first + process.count - 1, sockets_.size());
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
  for (FileDescriptor& socket : sockets_) socket.reset();
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
