// The batch loader: order, errors, and absence of deadlocks with any number of readers.
#include <catch2/catch.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <tuple>

#include "base/random.h"
#include "workloads/data/batch_loader.h"

using namespace doetune;
using namespace doetune::workloads;

TEST_CASE("batches come in order for any number of readers and any depth", "[data]") {
  for (const int readers : {0, 1, 2, 5})
    for (const int depth : {1, 2, 7}) {
      BatchLoader loader(40, readers, depth, [](int, std::int64_t number, Batch& batch) {
        std::this_thread::sleep_for(
            std::chrono::microseconds(random_below(1, static_cast<std::uint64_t>(number), 300)));
        batch.labels.assign(3, static_cast<std::int32_t>(number));
      });
      for (int i = 0; i < 40; ++i) REQUIRE(loader.next().labels == std::vector<std::int32_t>(3, i));
    }
}

TEST_CASE("readers are at most `depth` batches ahead", "[data]") {
  std::atomic<std::int64_t> furthest = -1;
  BatchLoader loader(30, 4, 3, [&](int, std::int64_t number, Batch&) {
    std::int64_t seen = furthest;
    while (seen < number && !furthest.compare_exchange_weak(seen, number)) {
    }
  });
  for (int taken = 0; taken < 30; ++taken) {
    CHECK(furthest < taken + 3);  // batches taken .. taken + 2 may be ahead
    loader.next();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    CHECK(furthest >= std::min(taken, 29));
  }
}

TEST_CASE(
    "as many readers work at once as there are, but for those that no batch ahead is left for",
    "[data]") {
  for (const auto& [readers, depth, together] :
       {std::tuple(3, 1, 1), std::tuple(3, 2, 2), std::tuple(2, 5, 2)}) {
    std::mutex mutex;
    std::condition_variable all_here;
    int working = 0, max_working = 0;
    const int wanted = together;
    BatchLoader loader(20, readers, depth, [&](int, std::int64_t number, Batch&) {
      std::unique_lock lock(mutex);
      max_working = std::max(max_working, ++working);
      all_here.notify_all();
      // The first readers wait until the expected number is here; a minute means a deadlock.
      if (number < wanted)
        all_here.wait_for(lock, std::chrono::minutes(1), [&] { return max_working >= wanted; });
      --working;
    });
    for (int i = 0; i < 20; ++i) loader.next();
    const std::lock_guard lock(mutex);
    CHECK(max_working == together);
  }
}

TEST_CASE("what a reader throws comes out of next", "[data]") {
  for (const int readers : {0, 2}) {
    BatchLoader loader(5, readers, 2, [](int, std::int64_t number, Batch&) {
      if (number == 2) throw std::runtime_error("broken image");
    });
    loader.next();
    loader.next();
    CHECK_THROWS_WITH(loader.next(), "broken image");
  }
}

TEST_CASE("a loader that nobody reads from ends", "[data]") {
  std::atomic<int> made = 0;
  {
    BatchLoader loader(1000000, 3, 2, [&](int, std::int64_t, Batch&) { ++made; });
  }
  CHECK(made <= 2);
}
