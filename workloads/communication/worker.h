// A thread that executes tasks in the order of submission.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

namespace doetune::workloads {

/// After a task has thrown, no further ones run. Tasks not yet begun are dropped on destruction.
class Worker {
 public:
  using Ticket = std::int64_t;

  Worker() : thread_([this] { work(); }) {}
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  Ticket start(std::function<void()> operation);
  /// Returns when this operation and those before it are done. Throws what one of them threw.
  void wait(Ticket ticket);
  /// Likewise for all operations started.
  void finish();
  /// Whether everything is done.
  bool idle() const;

 private:
  void work();

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> queue_;
  Ticket started_ = 0;
  Ticket done_ = 0;
  std::exception_ptr failure_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace doetune::workloads
