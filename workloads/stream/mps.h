// A private daemon of NVIDIA's Multi-Process Service (MPS): processes that are its clients run on a
// GPU side by side, where others take turns.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/file_descriptor.h"
#include "workloads/mapping.h"

namespace doetune::workloads {

/// Owns a daemon with directories of its own. A guard process holds it: that waits for the end of
/// this object or of its process, however either ends, stops the daemon and its servers, and
/// removes the directories.
class MpsDaemon {
 public:
  /// Throws std::runtime_error where nvidia-cuda-mps-control is not in PATH, fails, or does not
  /// answer in `patience`.
  explicit MpsDaemon(std::chrono::milliseconds patience = std::chrono::seconds(20));
  ~MpsDaemon();
  MpsDaemon(const MpsDaemon&) = delete;
  MpsDaemon& operator=(const MpsDaemon&) = delete;

  /// What makes a program its client. `gpus`: the daemon sees this process's GPUs and numbers them
  /// from 0, and so must its clients.
  std::vector<std::pair<std::string, std::string>> client_environment(int gpus) const;

  /// The processes that are attached, asked of each server. Throws std::runtime_error.
  std::vector<pid_t> clients() const;

  /// Throws std::runtime_error where one of the processes did not become a client: they would take
  /// turns, and what is measured would not be what was asked for.
  void verify_attached(const std::vector<pid_t>& processes) const;

 private:
  std::chrono::milliseconds patience_;
  pid_t guard_ = -1;
  FileDescriptor guard_socket_;
  std::filesystem::path directory_;
};

}  // namespace doetune::workloads
