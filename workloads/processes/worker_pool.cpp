#include "workloads/processes/worker_pool.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <new>
#include <system_error>
#include <thread>

#include "workloads/engines/engine.h"
#include "workloads/protocol/protocol.h"

namespace doetune::workloads {
namespace {

/// How often the kernel has killed a process for want of memory; 0 where it does not say.
std::int64_t out_of_memory_kills() {
  std::ifstream counters("/proc/vmstat");
  std::string name;
  for (std::int64_t value = 0; counters >> name >> value;)
    if (name == "oom_kill") return value;
  return 0;
}

/// In the new process: tie its life to the pool's, take its CPUs, become the worker.
[[noreturn]] void become_worker(pid_t pool, int socket, const WorkerStart& start) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != pool) _exit(kExitFailed);  // it ended before the line above
  fcntl(socket, F_SETFD, 0);
  for (const int file : start.files) fcntl(file, F_SETFD, 0);
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  for (const int cpu : start.cpus) CPU_SET(cpu, &cpus);
  sched_setaffinity(0, sizeof cpus, &cpus);
  setenv("OMP_NUM_THREADS", std::to_string(start.threads).c_str(), 1);
  // Threads that wait in a long spin, libgomp's way when it is not told, make inference several
  // times slower as soon as anything else runs on their CPUs.
  setenv("GOMP_SPINCOUNT", "1000", 0);
  const std::string descriptor = std::to_string(socket);
  execl("/proc/self/exe", "doetune-executor", "--executor", descriptor.c_str(), nullptr);
  _exit(127);
}

}  // namespace

WorkerPool::WorkerPool(const std::vector<WorkerStart>& starts)
    : out_of_memory_kills_(out_of_memory_kills()) {
  try {
    for (const WorkerStart& each : starts) start(each);
  } catch (...) {
    stop(0);
    throw;
  }
}

WorkerPool::~WorkerPool() { stop(2000); }

void WorkerPool::start(const WorkerStart& start) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    throw std::system_error(errno, std::generic_category(), "cannot make a socket for an executor");
  FileDescriptor ours(ends[0]);
  const FileDescriptor theirs(ends[1]);
  const pid_t pool = getpid();
  const pid_t pid = fork();
  if (pid < 0) throw std::system_error(errno, std::generic_category(), "cannot start an executor");
  if (pid == 0) become_worker(pool, theirs.get(), start);
  workers_.push_back({pid, std::move(ours)});
  send_bytes(workers_.size() - 1, std::as_bytes(std::span(start.configuration)));
}

void WorkerPool::send_bytes(std::size_t worker, std::span<const std::byte> packet) {
  ::send(workers_[worker].socket.get(), packet.data(), packet.size(),
         MSG_NOSIGNAL);  // an end shows on receipt
}

std::size_t WorkerPool::receive_bytes(std::span<std::byte> packet) {
  std::vector<pollfd> waiting;
  for (const Worker& worker : workers_) waiting.push_back({worker.socket.get(), POLLIN, 0});
  while (poll(waiting.data(), waiting.size(), -1) < 0) {  // a signal
  }
  do {
    served_ = (served_ + 1) % workers_.size();  // in turn, so that none waits for long
  } while (waiting[served_].revents == 0);
  if (recv(workers_[served_].socket.get(), packet.data(), packet.size(), 0) !=
      static_cast<ssize_t>(packet.size()))
    report_end(served_);
  return served_;
}

void WorkerPool::report_end(std::size_t worker) {
  int status = 0;
  waitpid(std::exchange(workers_[worker].pid, -1), &status, 0);
  const std::string who = fmt::format("executor {} of {}", worker, workers_.size());
  const bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
  if (WIFEXITED(status) && WEXITSTATUS(status) == kExitInfeasible)
    throw Infeasible(who + " cannot run with these settings; its message is above");
  if (killed && out_of_memory_kills() > out_of_memory_kills_)
    throw Infeasible(
        who + " was killed for want of memory: fewer executors or smaller batches take less");
  if (WIFSIGNALED(status))
    throw std::runtime_error(fmt::format("{} was ended by signal {} ({})", who, WTERMSIG(status),
                                         sigdescr_np(WTERMSIG(status))));
  throw std::runtime_error(fmt::format("{} ended with exit code {}", who, WEXITSTATUS(status)));
}

void WorkerPool::stop(int grace_ms) {
  using Clock = std::chrono::steady_clock;
  for (Worker& worker : workers_) worker.socket.reset();
  const auto deadline = Clock::now() + std::chrono::milliseconds(grace_ms);
  for (const Worker& worker : workers_) {
    if (worker.pid < 0) continue;
    while (waitpid(worker.pid, nullptr, WNOHANG) == 0) {
      if (Clock::now() >= deadline) kill(worker.pid, SIGKILL);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
}

std::string WorkerSocket::receive_configuration() const {
  std::string text(kLongestPacket, '\0');
  const ssize_t bytes = recv(socket_, text.data(), text.size(), 0);
  text.resize(bytes > 0 ? static_cast<std::size_t>(bytes) : 0);
  return text;
}

WorkerSocket::Received WorkerSocket::receive_bytes(std::span<std::byte> packet, bool wait) const {
  const ssize_t bytes = recv(socket_, packet.data(), packet.size(), wait ? 0 : MSG_DONTWAIT);
  if (bytes == static_cast<ssize_t>(packet.size())) return Received::packet;
  return bytes < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) ? Received::nothing
                                                                : Received::hung_up;
}

void WorkerSocket::send_bytes(std::span<const std::byte> packet) const {
  ::send(socket_, packet.data(), packet.size(), MSG_NOSIGNAL);
}

int run_worker(const std::function<std::string()>& who, const std::function<void()>& work) {
  const auto failed = [&](const char* message, int code) {
    fmt::print(stderr, "{}: {}\n", who(), message);
    return code;
  };
  try {
    work();
    return 0;
  } catch (const Infeasible& error) {
    return failed(error.what(), kExitInfeasible);
  } catch (const std::bad_alloc&) {
    return failed("not enough memory", kExitInfeasible);
  } catch (const std::exception& error) {
    return failed(error.what(), kExitFailed);
  }
}

}  // namespace doetune::workloads
