// The coordinator's side of the executors: starts them, shares out micro-batches, notices a death.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <vector>

#include "workloads/mapping.h"
#include "workloads/stream/executor.h"

namespace doetune::workloads {

/// CPUs that this process may use, or those of `assigned` that it may.
std::vector<int> usable_cpus(const std::vector<int>& assigned);

/// The CPUs of executor `index`: a part of its own where there is at least one for each, else all.
std::vector<int> cpus_of(const std::vector<int>& cpus, int index, int executors);

/// How often the kernel has killed a process for want of memory; 0 where it does not say.
std::int64_t out_of_memory_kills();

/// E processes of this same program, started as `<program> --executor <socket>`. They end with the
/// pool, and with this process however it ends; nothing of them is left in the file system.
class ExecutorPool {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  /// Starts all executors; `config(e)` is what executor e is told. Returns when all are ready.
  /// Throws Infeasible if the device cannot run the settings or the kernel kills an executor for
  /// want of memory, and std::runtime_error, naming the executor, if one dies otherwise.
  ExecutorPool(int executors, const std::vector<int>& cpus,
               const std::function<ExecutorConfig(int)>& config);
  ~ExecutorPool();
  ExecutorPool(const ExecutorPool&) = delete;
  ExecutorPool& operator=(const ExecutorPool&) = delete;

  /// Runs one micro-batch on all executors and returns their reports when the last one is done.
  std::vector<ShareReport> run(std::int64_t micro_batch);

  /// Sleeps until the time, but throws as soon as an executor dies.
  void wait_until(TimePoint time);

 private:
  struct Process {
    pid_t pid = -1;
    FileDescriptor socket;
  };

  void start(const std::vector<int>& cpus, const ExecutorConfig& config);
  /// Waits for a packet from each executor; `take(e, packet)` gets it.
  template <class T, class Take>
  void receive_all(Take take);
  [[noreturn]] void report_death(std::size_t executor);
  void stop(std::chrono::milliseconds grace);

  std::vector<Process> processes_;
  std::int64_t out_of_memory_kills_;  // by the kernel, when the pool started
};

}  // namespace doetune::workloads
