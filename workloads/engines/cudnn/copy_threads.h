// Threads that copy what the device then reads.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <mutex>
#include <thread>
#include <vector>

namespace doetune::workloads::cudnn {

/// Threads that run what they are given, in its order. What has not begun when they end is dropped.
class CopyThreads {
 public:
  explicit CopyThreads(int count);
  ~CopyThreads();
  CopyThreads(const CopyThreads&) = delete;
  CopyThreads& operator=(const CopyThreads&) = delete;

  bool any() const { return !threads_.empty(); }
  /// By the calling thread where there are no others.
  std::future<void> start(std::function<void()> copy);

 private:
  void work();
  void stop();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::packaged_task<void()>> waiting_;
  bool stopped_ = false;
  std::vector<std::jthread> threads_;  // last: joined before the other members are destroyed
};

}  // namespace doetune::workloads::cudnn
