// The coordinator's side of the executors: starts them, distributes micro-batches, detects their
// death.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/file_descriptor.h"
#include "workloads/memory_mapping.h"
#include "workloads/processes/child_process.h"
#include "workloads/stream/executor_process.h"

namespace doetune::workloads {

/// The number of executors, and how they are grouped in processes.
struct PoolLayout {
  int executors = 1;
  int per_process = 1;  // above 1, the executors of a process are threads
  std::vector<std::pair<std::string, std::string>> environment = {};  // added to the inherited one
};

/// Processes that run this program, started as `<program> --executor <socket>...`. They end with
/// the pool, or with this process however it ends, and leave nothing in the file system.
class ExecutorPool {
 public:
  using TimePoint = Clock::time_point;

  /// Starts all executors, with `config(e)` for executor e, and returns when all are ready. Throws
  /// Infeasible if the device cannot run the configuration or the kernel kills an executor for lack
  /// of memory, and std::runtime_error, naming the executor, if one dies otherwise.
  ExecutorPool(const PoolLayout& layout, const std::function<ExecutorConfig(int)>& config);
  ~ExecutorPool();
  ExecutorPool(const ExecutorPool&) = delete;
  ExecutorPool& operator=(const ExecutorPool&) = delete;

  /// Runs one micro-batch on all executors and returns the sum of their reports when the last one
  /// is done.
  ShareReport run(const Order& order);

  /// Sleeps until this time, but throws as soon as an executor dies.
  void wait_until(TimePoint time);

  std::vector<pid_t> processes() const;
  /// Names of the executors' library and device.
  const std::string& engine() const { return engine_; }
  /// Device memory held by their networks, in total.
  std::int64_t device_bytes() const { return device_bytes_; }

 private:
  struct Process {
    ChildProcess child;
    int first;  // index of its first executor
    int count;
  };

  void start(const PoolLayout& layout, int first, const std::function<ExecutorConfig(int)>& config);
  /// Waits for a packet from each executor and calls `take(packet)`.
  template <class T, class Take>
  void receive_all(Take take);
  [[noreturn]] void report_death(std::size_t executor);

  std::vector<Process> processes_;
  std::vector<FileDescriptor> sockets_;  // by executor
  std::string engine_;
  std::int64_t device_bytes_ = 0;
};

}  // namespace doetune::workloads
