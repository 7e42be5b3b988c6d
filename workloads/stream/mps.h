// A private daemon of NVIDIA's Multi-Process Service (MPS), whose client processes run on a GPU
// concurrently, where others are time-sliced.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/file_descriptor.h"
#include "workloads/memory_mapping.h"

namespace doetune::workloads {

/// Owns a daemon with directories of its own, through a guard process: the guard waits for the end
/// of this object or of its process, however either ends, stops the daemon and its servers, and
/// removes the directories.
class MpsDaemon {
 public:
  /// Throws std::runtime_error where nvidia-cuda-mps-control is not in PATH, fails, or does not
  /// answer within `patience`.
  explicit MpsDaemon(std::chrono::milliseconds patience = std::chrono::seconds(20));
  ~MpsDaemon();
  MpsDaemon(const MpsDaemon&) = delete;
  MpsDaemon& operator=(const MpsDaemon&) = delete;

  /// The environment of client processes. `gpus`: the daemon sees this process's GPUs and numbers
  /// them from 0, and so must its clients.
  std::vector<std::pair<std::string, std::string>> client_environment(int gpus) const;

  /// The attached processes, as reported by each server. Throws std::runtime_error.
  std::vector<pid_t> clients() const;

  /// Throws std::runtime_error where one of the processes is not a client: it would be time-sliced,
  /// so the measurement would not be of the sharing requested.
  void verify_attached(const std::vector<pid_t>& processes) const;

 private:
  std::chrono::milliseconds patience_;
  pid_t guard_ = -1;
  FileDescriptor guard_socket_;
  std::filesystem::path directory_;
};

}  // namespace doetune::workloads
