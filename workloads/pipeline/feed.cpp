#include "workloads/pipeline/feed.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/clock.h"
#include "base/random.h"
#include "workloads/memory.h"

namespace doetune::workloads {

StageSeconds FeedClock::seconds() const {
  StageSeconds seconds{};
  for (std::size_t i = 0; i < seconds.size(); ++i)
    seconds[i] = std::chrono::duration<double>(Clock::duration(times_[i].load())).count();
  return seconds;
}

void require_feed_memory(const FeedOptions& options, std::int64_t stored) {
  const Shape shape{3, options.size, options.size};
  const std::int64_t image = shape.elements() * static_cast<std::int64_t>(sizeof(float));
  const std::int64_t batches = std::int64_t{options.depth} + 1;
  const std::int64_t resident = options.resident ? stored * image : 0;
  require_memory(batches * options.batch * image + resident,
                 fmt::format("{} batches of {} images{}", batches, options.batch,
                             options.resident ? fmt::format(" and {} images", stored) : ""));
}

Feed::Feed(const ImageStore& store, const FeedOptions& options, FeedClock& clock)
    : store_(store), options_(options), clock_(clock) {
  require_feed_memory(options, store.count());
  for (int i = 0; i < std::max(1, options.readers); ++i)
    workers_.push_back(std::make_unique<Worker>(options.size));
  if (options.resident) {
    const auto size = static_cast<std::size_t>(shape().elements());
    std::vector<float> all(size * static_cast<std::size_t>(store.count()));
    for (int i = 0; i < store.count(); ++i)
      load(*workers_[0], i, std::span(all).subspan(static_cast<std::size_t>(i) * size, size));
    resident_ = std::move(all);
  }
  loader_ = std::make_unique<BatchLoader>(
      std::numeric_limits<std::int64_t>::max(), options.readers, options.depth,
      [this](int reader, std::int64_t number, Batch& batch) {
        make(*workers_[static_cast<std::size_t>(reader)], number, batch);
      });
}

std::int64_t Feed::stored_image(std::int64_t position) const {
  return static_cast<std::int64_t>(random_below(options_.seed, static_cast<std::uint64_t>(position),
                                                static_cast<std::uint64_t>(store_.count())));
}

std::uint64_t Feed::augmentation_key(std::int64_t position) const {
  return random_bits(~options_.seed, static_cast<std::uint64_t>(position));
}

/// Reads and decodes an image of the store into the network's input format.
void Feed::load(Worker& worker, int index, std::span<float> image) {
  const Clock::time_point start = Clock::now();
  store_.read(index, worker.bytes);
  const Clock::time_point read = Clock::now();
  worker.resizer(worker.decoder.decode(worker.bytes), image);
  clock_.add(FeedStage::read, read - start);
  clock_.add(FeedStage::decode, Clock::now() - read);
}

bool Feed::augments_in_step() const {
  return !options_.augment_in_readers && options_.augmentation != Augmentation::none;
}

void Feed::change(std::int64_t position, std::span<const float> from, std::span<float> to) {
  const Clock::time_point start = Clock::now();
  augment(options_.augmentation, shape(), augmentation_key(position), from, to);
  clock_.add(FeedStage::augment, Clock::now() - start);
}

void Feed::copy(std::span<const float> from, std::span<float> to) {
  const Clock::time_point start = Clock::now();
  std::ranges::copy(from, to.begin());
  clock_.add(FeedStage::copy, Clock::now() - start);
}

void Feed::make(Worker& worker, std::int64_t number, Batch& batch) {
  const auto size = static_cast<std::size_t>(shape().elements());
  batch.images.resize(static_cast<std::size_t>(options_.batch) * size);
  worker.image.resize(size);
  for (int i = 0; i < options_.batch; ++i) {
    const std::int64_t position = number * options_.batch + i;
    const std::int64_t index = stored_image(position);
    std::span<const float> plain = worker.image;
    if (resident_.empty())
      load(worker, static_cast<int>(index), worker.image);
    else
      plain = std::span(resident_).subspan(static_cast<std::size_t>(index) * size, size);
    const auto to = std::span(batch.images).subspan(static_cast<std::size_t>(i) * size, size);
    if (options_.augment_in_readers && options_.augmentation != Augmentation::none)
      change(position, plain, to);
    else
      copy(plain, to);
  }
}

double Feed::next(std::span<float> images) {
  const Clock::time_point start = Clock::now();
  const Batch& batch = loader_->next();
  const double waited = std::chrono::duration<double>(Clock::now() - start).count();
  const std::int64_t first = delivered_++ * options_.batch;
  if (!augments_in_step()) {
    std::ranges::copy(batch.images, images.begin());
    return waited;
  }
  const auto size = static_cast<std::size_t>(shape().elements());
  for (int i = 0; i < options_.batch; ++i) {
    const std::size_t at = static_cast<std::size_t>(i) * size;
    change(first + i, std::span(batch.images).subspan(at, size), images.subspan(at, size));
  }
  return waited;
}

}  // namespace doetune::workloads
