// The executors of a run with their resources: devices, weights, video, an MPS daemon.
#pragma once

#include <optional>
#include <string>

#include "base/file_descriptor.h"
#include "workloads/memory_mapping.h"
#include "workloads/protocol/protocol.h"
#include "workloads/stream/executor_pool.h"
#include "workloads/stream/mps.h"
#include "workloads/video/clip.h"

namespace doetune::workloads {

/// The placement of executors on devices. Executor e is on GPU e / executors_per_gpu.
struct Placement {
  std::string device;
  int gpus = 1;  // 1 for the CPU
  int executors_per_gpu = 1;
  std::string sharing;

  int executors() const { return gpus * executors_per_gpu; }
  bool threads() const { return sharing == "stream" || sharing == "green"; }
};

/// From `device`, `sharing`, `executors_per_gpu` and the GPUs of the request (default: all). Throws
/// NoDevice, and UsageError for a way of sharing that the device does not support.
Placement placement(const Request& request);

class Session {
 public:
  /// Starts the executors, and returns when they are ready. Throws what ExecutorPool and MpsDaemon
  /// throw.
  Session(const Request& request, const Placement& placed, const StreamPlan& plan,
          const ClipSpec& spec);

  ExecutorPool& pool() { return *pool_; }
  void add_notes(Result& result) const;

 private:
  FileDescriptor weights_;
  FileDescriptor clip_;
  ExecutorConfig config_;
  std::optional<MpsDaemon> mps_;  // outlives its clients
  std::optional<ExecutorPool> pool_;
};

}  // namespace doetune::workloads
