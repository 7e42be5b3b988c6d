#include "workloads/data/batch_loader.h"

#include <utility>

namespace doetune::workloads {

BatchLoader::BatchLoader(std::int64_t batches, int readers, int depth, Make make)
    : batches_(batches), make_(std::move(make)), slots_(static_cast<std::size_t>(depth) + 1) {
  try {
    for (int reader = 0; reader < readers; ++reader)
      readers_.emplace_back([this, reader] { read(reader); });
  } catch (...) {  // the system has no thread left; those started must end
    stop();
    throw;
  }
}

BatchLoader::~BatchLoader() { stop(); }

void BatchLoader::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
}

/// One slot is for the batch in use, the others for prefetched ones.
bool BatchLoader::may_begin() const {
  return begun_ < delivered_ + static_cast<std::int64_t>(slots_.size()) - 1;
}

void BatchLoader::fill(int reader, std::int64_t number) {
  Slot& slot = slot_of(number);
  try {
    make_(reader, number, slot.batch);
    slot.error = nullptr;
  } catch (...) {
    slot.error = std::current_exception();
  }
}

void BatchLoader::read(int reader) {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stopped_ || begun_ == batches_ || may_begin(); });
    if (stopped_ || begun_ == batches_) return;
    const std::int64_t number = begun_++;
    lock.unlock();
    fill(reader, number);
    lock.lock();
    slot_of(number).ready = true;
    changed_.notify_all();
  }
}

const Batch& BatchLoader::next() {
  std::unique_lock lock(mutex_);
  const std::int64_t number = delivered_++;
  Slot& slot = slot_of(number);
  if (readers_.empty()) {
    fill(0, number);
  } else {
    changed_.notify_all();  // the slot of the previous batch is free now
    changed_.wait(lock, [&slot] { return slot.ready; });
    slot.ready = false;
  }
  if (slot.error) std::rethrow_exception(slot.error);
  return slot.batch;
}

}  // namespace doetune::workloads
