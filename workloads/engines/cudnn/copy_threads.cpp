#include "workloads/engines/cudnn/copy_threads.h"

#include <utility>

namespace doetune::workloads::cudnn {

CopyThreads::CopyThreads(int count) {
  try {
    for (int i = 0; i < count; ++i) threads_.emplace_back([this] { work(); });
  } catch (...) {  // the system has no thread left; those started must end
    stop();
    throw;
  }
}

CopyThreads::~CopyThreads() { stop(); }

void CopyThreads::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
}

std::future<void> CopyThreads::start(std::function<void()> copy) {
  std::packaged_task<void()> task(std::move(copy));
  std::future<void> done = task.get_future();
  if (!any()) {
    task();
    return done;
  }
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(task));
  }
  changed_.notify_one();
  return done;
}

void CopyThreads::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stopped_ || !waiting_.empty(); });
    if (stopped_) return;
    std::packaged_task<void()> task = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    task();
    lock.lock();
  }
}

}  // namespace doetune::workloads::cudnn
