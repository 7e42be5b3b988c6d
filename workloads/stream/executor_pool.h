// The coordinator's side of the executors: starts them, shares out micro-batches, notices a death.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/file_descriptor.h"
#include "workloads/mapping.h"
#include "workloads/processes/child_process.h"
#include "workloads/stream/executor_process.h"

namespace doetune::workloads {

/// How many executors there are and where they live.
struct PoolLayout {
  int executors = 1;
  int per_process = 1;  // above 1 the executors of a process are its threads
  std::vector<std::pair<std::string, std::string>> environment = {};  // added to theirs
};

/// Processes of this same program, started as `<program> --executor <socket>...`. They end with the
/// pool, and with this process however it ends; nothing of them is left in the file system.
class ExecutorPool {
 public:
  using TimePoint = Clock::time_point;

  /// Starts all executors; `config(e)` is what executor e is told. Returns when all are ready.
  /// Throws Infeasible if the device cannot run the settings or the kernel kills an executor for
  /// want of memory, and std::runtime_error, naming the executor, if one dies otherwise.
  ExecutorPool(const PoolLayout& layout, const std::function<ExecutorConfig(int)>& config);
  ~ExecutorPool();
  ExecutorPool(const ExecutorPool&) = delete;
  ExecutorPool& operator=(const ExecutorPool&) = delete;

  /// Runs one micro-batch on all executors and returns the sum of their reports when the last one
  /// is done.
  ShareReport run(const Order& order);

  /// Sleeps until the time, but throws as soon as an executor dies.
  void wait_until(TimePoint time);

  std::vector<pid_t> processes() const;
  /// Library and device of the executors, in words.
  const std::string& engine() const { return engine_; }
  /// Memory of the devices that their networks hold, together.
  std::int64_t device_bytes() const { return device_bytes_; }

 private:
  struct Process {
    ChildProcess child;
    int first;  // executor
    int count;
  };

  void start(const PoolLayout& layout, int first, const std::function<ExecutorConfig(int)>& config);
  /// Waits for a packet from each executor; `take(packet)` gets it.
  template <class T, class Take>
  void receive_all(Take take);
  [[noreturn]] void report_death(std::size_t executor);

  std::vector<Process> processes_;
  std::vector<FileDescriptor> sockets_;  // by executor
  std::string engine_;
  std::int64_t device_bytes_ = 0;
};

}  // namespace doetune::workloads
