#include "workloads/processes/worker_pool.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <chrono>
#include <cstdio>
#include <new>

#include "base/clock.h"
#include "workloads/protocol/protocol.h"

namespace doetune::workloads {
namespace {

constexpr std::chrono::seconds kGrace{2};  // for workers to end by themselves

}  // namespace

WorkerPool::WorkerPool(const std::vector<WorkerStart>& starts) {
  for (const WorkerStart& each : starts) start(each);
}

WorkerPool::~WorkerPool() {
  for (Worker& worker : workers_) worker.socket.close();
  const auto deadline = Clock::now() + kGrace;
  for (Worker& worker : workers_) worker.process.end_by(deadline);
}

void WorkerPool::start(const WorkerStart& start) {
  auto [ours, theirs] = connected_sockets();
  ChildStart child{{"doetune-executor", "--executor", std::to_string(theirs.get())},
                   {},
                   start.files,
                   start.cpus,
                   start.threads};
  child.files.push_back(theirs.get());
  workers_.push_back({ChildProcess(child), std::move(ours)});
  send_bytes(workers_.size() - 1, std::as_bytes(std::span(start.configuration)));
}

void WorkerPool::send_bytes(std::size_t worker, std::span<const std::byte> packet) {
  ::send(workers_[worker].socket.get(), packet.data(), packet.size(),
         MSG_NOSIGNAL);  // a worker's end is noticed on receipt
}

std::size_t WorkerPool::receive_bytes(std::span<std::byte> packet) {
  std::vector<pollfd> waiting;
  for (const Worker& worker : workers_) waiting.push_back({worker.socket.get(), POLLIN, 0});
  while (poll(waiting.data(), waiting.size(), -1) < 0) {  // interrupted by a signal
  }
  do {
    served_ = (served_ + 1) % workers_.size();  // round-robin, so that none waits for long
  } while (waiting[served_].revents == 0);
  if (recv(workers_[served_].socket.get(), packet.data(), packet.size(), 0) !=
      static_cast<ssize_t>(packet.size()))
    report_end(served_);
  return served_;
}

void WorkerPool::report_end(std::size_t worker) {
  ChildProcess& process = workers_[worker].process;
  process.wait();
  process.report(fmt::format("executor {} of {}", worker, workers_.size()),
                 "fewer executors or smaller batches take less");
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
