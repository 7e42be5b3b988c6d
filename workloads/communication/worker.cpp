#include "workloads/communication/worker.h"

namespace doetune::workloads {
namespace {

std::exception_ptr attempt(const std::function<void()>& operation) try {
  operation();
  return {};
} catch (...) {
  return std::current_exception();
}

}  // namespace

Worker::~Worker() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

Worker::Ticket Worker::start(std::function<void()> operation) {
  const std::lock_guard lock(mutex_);
  queue_.push_back(std::move(operation));
  changed_.notify_all();
  return ++started_;
}

void Worker::wait(Ticket ticket) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return done_ >= ticket || failure_; });
  if (done_ < ticket) std::rethrow_exception(failure_);
}

void Worker::finish() { wait(started_); }

bool Worker::idle() const {
  const std::lock_guard lock(mutex_);
  return done_ == started_;
}

void Worker::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return stop_ || !queue_.empty(); });
    if (stop_) return;
    const auto operation = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    const std::exception_ptr failure = attempt(operation);
    lock.lock();
    failure_ = failure;
    if (!failure) ++done_;
    changed_.notify_all();
    if (failure) return;
  }
}

}  // namespace doetune::workloads
