#include "workloads/stream/executor_pool.h"
#include "base/clock.h"
#include "base/file_descriptor.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace doetune::workloads {
namespace {

constexpr std::chrono::seconds kGrace{2};  // for executors to end by themselves

}  // namespace

ExecutorPool::ExecutorPool(const PoolLayout& layout,
                           const std::function<ExecutorConfig(int)>& config) {
  for (int first = 0; first < layout.executors; first += layout.per_process)
    start(layout, first, config);
  receive_all<Ready>([&](const Ready& ready) {
    engine_ = std::string(ready.engine, strnlen(ready.engine, sizeof ready.engine));
    device_bytes_ += ready.device_bytes;
  });
}

ExecutorPool::~ExecutorPool() {
  for (FileDescriptor& socket : sockets_) socket.close();
  const auto deadline = Clock::now() + kGrace;
  for (Process& process : processes_) process.child.end_by(deadline);
}

void ExecutorPool::start(const PoolLayout& layout, int first,
                         const std::function<ExecutorConfig(int)>& config) {
  const ExecutorConfig shared = config(first);
  std::vector<FileDescriptor> theirs;
  ChildStart start{{"doetune-executor", "--executor"},
                   layout.environment,
                   {shared.weights_fd, shared.clip_fd},
                   {},
                   shared.compile.threads};
  for (int e = first; e < first + layout.per_process; ++e) {
    auto [our_end, their_end] = connected_sockets();
    start.files.push_back(their_end.get());
    start.arguments.push_back(std::to_string(their_end.get()));
    sockets_.push_back(std::move(our_end));
    theirs.push_back(std::move(their_end));
  }
  processes_.push_back({ChildProcess(start), first, layout.per_process});
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
    if (poll(waiting.data(), waiting.size(), -1) < 0) continue;  // interrupted by a signal
    for (std::size_t e = 0; e < waiting.size(); ++e) {
      if (waiting[e].fd < 0 || waiting[e].revents == 0) continue;
      T packet{};
      if (recv(waiting[e].fd, &packet, sizeof packet, 0) != static_cast<ssize_t>(sizeof packet))
        report_death(e);
      take(packet);
      waiting[e].fd = -1;  // poll ignores it from now on
      --missing;
    }
  }
}

ShareReport ExecutorPool::run(const Order& order) {
  for (const FileDescriptor& socket : sockets_)
    send(socket.get(), &order, sizeof order, MSG_NOSIGNAL);  // failure shows on receipt
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
      if (waiting[e].revents != 0) report_death(e);  // idle executors send nothing
  }
}

std::vector<pid_t> ExecutorPool::processes() const {
  std::vector<pid_t> pids;
  for (const Process& process : processes_) pids.push_back(process.child.pid());
  return pids;
}

void ExecutorPool::report_death(std::size_t executor) {
  Process& process = *std::ranges::find_if(
      processes_, [&](const Process& p) { return static_cast<int>(executor) < p.first + p.count; });
  const std::string who =
      process.count == 1 ? fmt::format("executor {} of {}", executor, sockets_.size())
                         : fmt::format("the process of executors {} to {}, of {},", process.first,
                                       process.first + process.count - 1, sockets_.size());
  process.child.wait();
  process.child.report(who, "fewer executors or smaller batches take less");
}

}  // namespace doetune::workloads
