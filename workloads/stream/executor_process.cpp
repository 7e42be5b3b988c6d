#include "workloads/stream/executor_process.h"

#include <fmt/format.h>
#include <unistd.h>

#include <thread>
#include <vector>

#include "workloads/processes/cpus.h"
#include "workloads/processes/worker_pool.h"

namespace doetune::workloads {
namespace {

void serve(Executor& executor, const WorkerSocket& socket) {
  Ready ready{executor.device_bytes(), {}};
  executor.engine().copy(ready.engine, sizeof ready.engine - 1);
  socket.send(ready);
  Order order{};
  while (socket.receive(order, true) == WorkerSocket::Received::packet)
    socket.send(executor.process(order.micro_batch, static_cast<int>(order.channels)));
}

/// Ends the process on failure: its other executors cannot be interrupted.
void run_executor(int descriptor) {
  const WorkerSocket socket(descriptor);
  std::string who = "executor";
  const int code = run_worker([&] { return who; },
                              [&] {
                                const std::string text = socket.receive_configuration();
                                if (text.empty()) return;
                                const ExecutorConfig config = config_from_text(text);
                                who = fmt::format("executor {}", config.index);
                                use_cpus(config.cpus);
                                Executor executor(config);
                                serve(executor, socket);
                              });
  if (code != 0) _exit(code);
}

}  // namespace

int run_executors(std::span<const int> sockets) {
  std::vector<std::jthread> others;
  for (const int socket : sockets.subspan(1)) others.emplace_back(run_executor, socket);
  run_executor(sockets.front());
  return 0;
}

}  // namespace doetune::workloads
