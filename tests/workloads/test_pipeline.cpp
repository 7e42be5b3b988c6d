// Feeding a step: the same batches whoever makes them, from either format; bottlenecks by hand.
#include <catch2/catch.hpp>

#include <unistd.h>

#include <fstream>

#include "workloads/pipeline/input_pipeline.h"

namespace {

using namespace doetune::workloads;
namespace fs = std::filesystem;
using Catch::Contains;

struct Workplace {
  fs::path path = fs::temp_directory_path() / ("doetune-pipeline-" + std::to_string(getpid()));
  Workplace() { fs::create_directories(path); }
  ~Workplace() { fs::remove_all(path); }
};

const ClipSpec kPictures{64, 48, 12, 1};

FeedOptions options() {
  FeedOptions options;
  options.batch = 5;
  options.augmentation = Augmentation::crop_flip;
  return options;
}

std::vector<float> three_batches(const ImageStore& store, const FeedOptions& options) {
  FeedClock clock;
  Feed feed(store, options, clock);
  const std::size_t size = 5 * 3 * 32 * 32;
  std::vector<float> all(3 * size);
  for (std::size_t i = 0; i < 3; ++i) feed.next(std::span(all).subspan(i * size, size));
  return all;
}

}  // namespace

TEST_CASE("records and loose files hold the same pictures", "[pipeline]") {
  const Workplace place;
  const auto records = open_records(kPictures, place.path);
  const auto loose = open_loose(kPictures, place.path);
  REQUIRE(records->count() == 12);
  REQUIRE(loose->count() == 12);
  std::vector<std::byte> one, other;
  for (int i = 0; i < 12; ++i) {
    records->read(i, one);
    loose->read(i, other);
    CHECK(one == other);
    CHECK(one[0] == std::byte{0xFF});  // a JPEG file begins with FF D8 (ITU-T T.81, B.1.1.3)
    CHECK(one[1] == std::byte{0xD8});
  }
}

TEST_CASE("batches do not depend on who makes them, how far ahead, or from which format",
          "[pipeline]") {
  const Workplace place;
  const auto records = open_records(kPictures, place.path);
  const auto expected = three_batches(*records, options());
  const auto differently = [&](auto change) {
    FeedOptions other = options();
    change(other);
    return three_batches(*records, other);
  };
  CHECK(differently([](FeedOptions& o) { o.readers = 0; }) == expected);
  CHECK(differently([](FeedOptions& o) { o.readers = 3, o.depth = 5; }) == expected);
  CHECK(differently([](FeedOptions& o) { o.augment_in_readers = false; }) == expected);
  CHECK(differently([](FeedOptions& o) { o.resident = true; }) == expected);
  CHECK(three_batches(*open_loose(kPictures, place.path), options()) == expected);
  CHECK(differently([](FeedOptions& o) { o.seed = 2; }) != expected);
  CHECK(differently([](FeedOptions& o) { o.augmentation = Augmentation::none; }) != expected);
}

TEST_CASE("stages that do not run take no time", "[pipeline]") {
  const Workplace place;
  const auto records = open_records(kPictures, place.path);
  FeedOptions resident = options();
  resident.resident = true;
  resident.augmentation = Augmentation::none;
  FeedClock clock;
  Feed feed(*records, resident, clock);
  const StageSeconds made = clock.seconds();  // decoded once
  std::vector<float> batch(5 * 3 * 32 * 32);
  for (int i = 0; i < 3; ++i) feed.next(batch);
  CHECK(made[static_cast<std::size_t>(FeedStage::decode)] > 0);
  CHECK(clock.seconds() == made);
}

TEST_CASE("pictures that are missing or damaged end the feed with a message", "[pipeline]") {
  const Workplace place;
  const auto loose = open_loose(kPictures, place.path);
  fs::path folder;
  for (const auto& entry : fs::directory_iterator(place.path))
    if (entry.is_directory()) folder = entry.path();
  fs::remove(folder / "000003.jpg");
  std::vector<std::byte> bytes;
  CHECK_THROWS_WITH(loose->read(3, bytes), Contains("000003.jpg"));
  for (const auto& entry : fs::directory_iterator(folder))
    std::ofstream(entry.path(), std::ios::binary) << "no picture";
  std::ofstream(folder / "000003.jpg", std::ios::binary) << "no picture";
  CHECK_THROWS_AS(three_batches(*loose, options()), VideoError);
}

TEST_CASE("the bottleneck is what holds the step up", "[pipeline]") {
  PipelineTimes times{10, 0.1, 9.9, {1, 2, 3}, false};
  CHECK(bottleneck(times) == "step");
  times.idle = 5, times.step = 5;
  CHECK(bottleneck(times) == "augment");
  times.stages = {1, 4, 3};
  CHECK(bottleneck(times) == "decode");
  times.stages = {6, 4, 3};
  CHECK(bottleneck(times) == "read");
  times.stages = {0, 0, 0};
  CHECK(bottleneck(times) == "copy");
  // 6 of the 10 s that the step took were augmentation.
  CHECK(bottleneck({10, 0, 10, {1, 1, 6}, true}) == "augment");
  CHECK(bottleneck({10, 0, 10, {1, 1, 6}, false}) == "step");
}
