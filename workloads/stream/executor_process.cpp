#include "workloads/stream/executor_process.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <thread>
#include <vector>

#include "workloads/protocol/protocol.h"

namespace doetune::workloads {
namespace {

/// The next packet; empty when the coordinator has hung up.
std::string receive(int socket) {
  std::string message(kLongestMessage, '\0');
  const ssize_t bytes = recv(socket, message.data(), message.size(), 0);
  message.resize(bytes > 0 ? static_cast<std::size_t>(bytes) : 0);
  return message;
}

template <class T>
void send_value(int socket, const T& value) {
  send(socket, &value, sizeof value,
       MSG_NOSIGNAL);  // if it fails, the next receive ends the executor
}

/// The calling thread's CPUs; threads that it starts inherit them.
void use_cpus(const std::vector<int>& cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus) CPU_SET(cpu, &set);
  sched_setaffinity(0, sizeof set, &set);
}

void serve(Executor& executor, int socket) {
  Ready ready{executor.device_bytes(), {}};
  executor.engine().copy(ready.engine, sizeof ready.engine - 1);
  send_value(socket, ready);
  Order order{};
  while (recv(socket, &order, sizeof order, 0) == sizeof order)
    send_value(socket, executor.process(order.micro_batch, static_cast<int>(order.channels)));
}

/// Does not return from a failure: the other executors of the process may be deep in their work.
void run_executor(int socket) {
  std::string who = "executor";
  const auto failed = [&](const char* message, int code) {
    fmt::print(stderr, "{}: {}\n", who, message);
    std::fflush(stderr);
    _exit(code);
  };
  try {
    const std::string text = receive(socket);
    if (text.empty()) return;
    const ExecutorConfig config = config_from_text(text);
    who = fmt::format("executor {}", config.index);
    use_cpus(config.cpus);
    Executor executor(config);
    serve(executor, socket);
  } catch (const Infeasible& error) {
    failed(error.what(), kExitInfeasible);
  } catch (const std::bad_alloc&) {
    failed("not enough memory", kExitInfeasible);
  } catch (const std::exception& error) {
    failed(error.what(), kExitFailed);
  }
}

}  // namespace

int run_executors(std::span<const int> sockets) {
  std::vector<std::jthread> others;
  for (const int socket : sockets.subspan(1)) others.emplace_back(run_executor, socket);
  run_executor(sockets.front());
  return 0;
}

}  // namespace doetune::workloads
