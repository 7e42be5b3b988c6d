// A process of executors, and its packets to and from the coordinator.
#pragma once

#include <cstdint>
#include <span>

#include "workloads/stream/executor.h"

namespace doetune::workloads {

/// The packets on an executor's socket: the configuration (text) to the executor, Ready back, then
/// for each micro-batch an Order to the executor and a ShareReport back. End of file ends the
/// executor.
struct Ready {
  std::int64_t device_bytes;
  char engine[248];  // description, zero-terminated
};
struct Order {
  std::int64_t micro_batch;
  std::int64_t channels;
};

/// Serves one coordinator over the sockets until it closes them: one executor each, the first on
/// this thread and further ones on threads of their own. Returns the process's exit code. An
/// executor that fails ends the process with all its executors, after a message on standard error.
int run_executors(std::span<const int> sockets);

}  // namespace doetune::workloads
