// Child processes that run this same program, or one that runs it.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/file_descriptor.h"
#include "workloads/memory_mapping.h"

namespace doetune::workloads {

/// The configuration of a child process.
struct ChildStart {
  std::vector<std::string> arguments;  ///< command line, the program's name first
  std::vector<std::pair<std::string, std::string>> environment = {};  ///< added to this process's
  std::vector<int> files = {};  ///< open descriptors that it inherits, under the same numbers
  std::vector<int> cpus = {};   ///< its CPUs; empty: this process's
  int threads = 1;              ///< for OpenMP
  std::string program = "/proc/self/exe";  ///< a path, or a name to be found in PATH
  int end_signal = SIGKILL;                ///< what it gets when this process ends
};

/// Owns a child process, which ends with this object or with this process, however that ends.
class ChildProcess {
 public:
  /// Throws std::system_error.
  explicit ChildProcess(const ChildStart& start);
  ~ChildProcess();
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&& other) noexcept;

  pid_t pid() const { return pid_; }

  /// Whether it has ended; does not wait.
  bool ended();
  /// Waits until it has ended.
  void wait();
  /// Waits until it has ended; kills it at the deadline.
  void end_by(Clock::time_point deadline);

  /// Whether a child that has ended did so by a signal or with a nonzero exit code.
  bool failed() const { return status_ != 0; }
  bool ended_by_signal() const;
  /// Throws the reason of the failure, prefixed by `who`: UsageError or Infeasible for their exit
  /// codes, Infeasible where the kernel killed the child for lack of memory (`takes_less` is the
  /// advice for that), and std::runtime_error otherwise.
  [[noreturn]] void report(const std::string& who, const std::string& takes_less) const;

 private:
  pid_t pid_ = -1;
  int status_ = 0;
  bool ended_ = false;
  std::int64_t out_of_memory_kills_;  ///< count when it was started
};

/// A connected pair of sockets that preserve packet boundaries. A child inherits one and gets its
/// number as an argument. Throws std::system_error.
std::pair<FileDescriptor, FileDescriptor> connected_sockets();

}  // namespace doetune::workloads
