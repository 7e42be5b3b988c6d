// A process of executors, and what passes between it and the coordinator.
#pragma once

#include <cstdint>
#include <span>

#include "workloads/stream/executor.h"

namespace doetune::workloads {

/// What passes over an executor's socket, one packet each: the configuration (text) to the
/// executor, Ready back, then for each micro-batch an Order to the executor and a ShareReport back.
/// The end of the stream ends the executor.
struct Ready {
  std::int64_t device_bytes;
  char engine[248];  // its description, ended by 0
};
struct Order {
  std::int64_t micro_batch;
  std::int64_t channels;
};

/// Serves one coordinator over the sockets until it hangs up: one executor each, the first on this
/// thread and further ones on threads of their own. Returns the process's exit code. An executor
/// that fails ends the process, all executors with it, after a message on standard error.
int run_executors(std::span<const int> sockets);

}  // namespace doetune::workloads
