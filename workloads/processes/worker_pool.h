// Worker processes that run this same program, and the exchange of packets with them.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/file_descriptor.h"
#include "workloads/memory_mapping.h"
#include "workloads/processes/child_process.h"

namespace doetune::workloads {

/// The configuration of a worker.
struct WorkerStart {
  std::string configuration;    ///< first packet that it receives, at most kLongestPacket bytes
  std::vector<int> files = {};  ///< open descriptors that it inherits, under the same numbers
  std::vector<int> cpus = {};   ///< its CPUs
  int threads = 1;              ///< for OpenMP
};

inline constexpr std::size_t kLongestPacket = 1 << 16;

/// Processes started as `<this program> --executor <socket>`. They end with the pool, or with this
/// process however it ends, and leave nothing in the file system.
class WorkerPool {
 public:
  /// Throws std::system_error.
  explicit WorkerPool(const std::vector<WorkerStart>& starts);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  std::size_t size() const { return workers_.size(); }

  template <class T>
  void send(std::size_t worker, const T& packet) {
    static_assert(std::is_trivially_copyable_v<T>);
    send_bytes(worker, std::as_bytes(std::span(&packet, 1)));
  }

  /// Waits for the next packet of any worker; all packets must have this type now. Throws
  /// Infeasible if a worker has ended with that exit code or was killed for lack of memory, and
  /// std::runtime_error, naming it, if one has ended otherwise.
  template <class T>
  std::pair<std::size_t, T> receive() {
    static_assert(std::is_trivially_copyable_v<T>);
    T packet;
    const std::size_t worker = receive_bytes(std::as_writable_bytes(std::span(&packet, 1)));
    return {worker, packet};
  }

 private:
  struct Worker {
    ChildProcess process;
    FileDescriptor socket;
  };

  void start(const WorkerStart& start);
  void send_bytes(std::size_t worker, std::span<const std::byte> packet);
  std::size_t receive_bytes(std::span<std::byte> packet);
  [[noreturn]] void report_end(std::size_t worker);

  std::vector<Worker> workers_;
  std::size_t served_ = 0;  ///< the worker of the last packet received
};

/// A worker's end of the socket.
class WorkerSocket {
 public:
  explicit WorkerSocket(int socket) : socket_(socket) {}

  /// The first packet; empty where the pool has closed the connection.
  std::string receive_configuration() const;

  enum class Received { packet, nothing, hung_up };

  /// The next packet; `nothing` where there is none and `wait` is false.
  template <class T>
  Received receive(T& packet, bool wait) const {
    static_assert(std::is_trivially_copyable_v<T>);
    return receive_bytes(std::as_writable_bytes(std::span(&packet, 1)), wait);
  }

  /// If the pool has closed the connection, the next receive reports it.
  template <class T>
  void send(const T& packet) const {
    static_assert(std::is_trivially_copyable_v<T>);
    send_bytes(std::as_bytes(std::span(&packet, 1)));
  }

 private:
  Received receive_bytes(std::span<std::byte> packet, bool wait) const;
  void send_bytes(std::span<const std::byte> packet) const;

  int socket_;
};

/// Runs a worker. Returns its exit code: 0, or that of the exception that `work` throws, after a
/// message on standard error that begins with `who()`.
int run_worker(const std::function<std::string()>& who, const std::function<void()>& work);

}  // namespace doetune::workloads
