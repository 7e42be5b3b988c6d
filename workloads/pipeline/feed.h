// The input pipeline, from coded images to training batches, with the time of each stage.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "workloads/data/augmentation.h"
#include "workloads/data/batch_loader.h"
#include "workloads/data/data_set.h"
#include "workloads/pipeline/image_store.h"
#include "workloads/video/video.h"
#include "workloads/video/ycbcr_image.h"

namespace doetune::workloads {

/// The stages of preparing an image; `decode` includes scaling, `copy` applies to images that are
/// already decoded and not augmented.
enum class FeedStage { read, decode, augment, copy };
inline constexpr std::size_t kFeedStages = 4;
constexpr std::size_t index_of(FeedStage stage) { return static_cast<std::size_t>(stage); }
using StageSeconds = std::array<double, kFeedStages>;

/// The time of each stage, summed over the threads.
class FeedClock {
 public:
  void add(FeedStage stage, Clock::duration time) { times_[index_of(stage)] += time.count(); }
  StageSeconds seconds() const;

 private:
  std::array<std::atomic<Clock::rep>, kFeedStages> times_{};
};

struct FeedOptions {
  int batch = 1;
  int size = 32;    // of the network's square input
  int readers = 1;  // threads; 0: the step makes its own batches
  int depth = 2;    // batches prefetched
  Augmentation augmentation = Augmentation::none;
  bool augment_in_readers = true;
  bool resident = false;  // read and decoded once, then kept in memory
  std::uint64_t seed = 1;
};

/// Throws Infeasible where memory cannot hold what a feed keeps: the batch in use, the prefetched
/// ones and, if resident, all images.
void require_feed_memory(const FeedOptions& options, std::int64_t stored);

/// An endless sequence of batches of a store's images, drawn at random with replacement.
class Feed {
 public:
  /// The store must outlive it. Throws what require_feed_memory, reading and decoding throw.
  Feed(const ImageStore& store, const FeedOptions& options, FeedClock& clock);

  /// Copies the next batch to `images` (augmenting it where readers do not). Returns the seconds
  /// spent waiting for it.
  double next(std::span<float> images);
  /// Whether augmentation is part of the step's time.
  bool augments_in_step() const;

 private:
  struct Worker {
    explicit Worker(int size) : resizer({size, size}) {}
    FrameDecoder decoder;
    Resizer resizer;
    std::vector<std::byte> bytes;
    std::vector<float> image;
  };
  Shape shape() const { return {3, options_.size, options_.size}; }
  std::int64_t stored_image(std::int64_t position) const;
  std::uint64_t augmentation_key(std::int64_t position) const;
  void make(Worker& worker, std::int64_t number, Batch& batch);
  void load(Worker& worker, int index, std::span<float> image);
  void change(std::int64_t position, std::span<const float> from, std::span<float> to);
  void copy(std::span<const float> from, std::span<float> to);

  const ImageStore& store_;
  const FeedOptions options_;
  FeedClock& clock_;
  std::vector<float> resident_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::int64_t delivered_ = 0;
  std::unique_ptr<BatchLoader> loader_;  // last: its threads use the other members
};

}  // namespace doetune::workloads
