// Prefetching of batches by reader threads.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace doetune::workloads {

struct Batch {
  std::vector<float> images;  // contiguous, each height x width x channels
  std::vector<std::int32_t> labels;
};

/// Delivers batches 0, 1, ... in order. Each reader makes whole batches; at most `depth` are ready
/// or in progress besides the one in use. Without readers, next() makes the batch itself. The
/// batches do not depend on either number.
class BatchLoader {
 public:
  /// Fills a batch by its number. Called by reader 0 .. readers - 1, each on its own thread (reader
  /// 0 on the caller's without readers).
  using Make = std::function<void(int reader, std::int64_t number, Batch& batch)>;

  /// depth >= 1.
  BatchLoader(std::int64_t batches, int readers, int depth, Make make);
  ~BatchLoader();
  BatchLoader(const BatchLoader&) = delete;
  BatchLoader& operator=(const BatchLoader&) = delete;

  /// Waits for the next batch, at most `batches` times; valid until the next call. Throws what
  /// `make` threw.
  const Batch& next();

 private:
  struct Slot {
    Batch batch;
    bool ready = false;
    std::exception_ptr error;
  };
  Slot& slot_of(std::int64_t number) {
    return slots_[static_cast<std::size_t>(number) % slots_.size()];
  }
  bool may_begin() const;
  void fill(int reader, std::int64_t number);
  void read(int reader);
  void stop();

  const std::int64_t batches_;
  const Make make_;
  std::vector<Slot> slots_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::int64_t begun_ = 0;      // claimed by readers
  std::int64_t delivered_ = 0;  // returned by next()
  bool stopped_ = false;
  std::vector<std::jthread> readers_;  // last: joined before the other members are destroyed
};

}  // namespace doetune::workloads
