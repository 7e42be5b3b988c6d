// This same program, started once more as a child.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/file_descriptor.h"
#include "workloads/mapping.h"

namespace doetune::workloads {

/// What a child starts with.
struct ChildStart {
  std::vector<std::string> arguments;  ///< of its command line, the program's name first
  std::vector<std::pair<std::string, std::string>> environment = {};  ///< added to this process's
  std::vector<int> files = {};  ///< open descriptors that it keeps, under the same numbers
  std::vector<int> cpus = {};   ///< that it may use; empty: this process's
  int threads = 1;              ///< of OpenMP
};

/// Owns a child. It ends with this object, and with this process however that ends.
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
  /// Waits for its end.
  void wait();
  /// Waits until the deadline for its end, then kills it.
  void end_by(Clock::time_point deadline);

  /// Of a child that has ended: with another exit code than 0, or by a signal.
  bool failed() const { return status_ != 0; }
  bool ended_by_signal() const;
  /// Throws how it failed, after `who` it is: UsageError and Infeasible for the exit codes that say
  /// so, Infeasible where the kernel killed it for want of memory (`takes_less` says what to do
  /// then), and std::runtime_error otherwise.
  [[noreturn]] void report(const std::string& who, const std::string& takes_less) const;

 private:
  pid_t pid_ = -1;
  int status_ = 0;
  bool ended_ = false;
  std::int64_t out_of_memory_kills_;  ///< by the kernel, when it was started
};

/// The two ends of a connection that keeps packets apart. A child is started with the number of
/// one, which it keeps as a file. Throws std::system_error.
std::pair<FileDescriptor, FileDescriptor> connected_sockets();

}  // namespace doetune::workloads
