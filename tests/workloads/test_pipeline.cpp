// The input pipeline: identical batches for any readers and format; bottlenecks of known cases.
#include <catch2/catch.hpp>

#include <unistd.h>

#include <fstream>

#include "tests/temporary_directory.h"
#include "workloads/pipeline/pipeline_result.h"

namespace {

using namespace doetune;
using namespace doetune::workloads;
namespace fs = std::filesystem;
using Catch::Contains;

const ClipSpec kImages{64, 48, 12, 1};

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

TEST_CASE("records and loose files hold the same images", "[pipeline]") {
  const tests::TemporaryDirectory scratch;
  const auto records = open_records(kImages, scratch.path());
  const auto loose = open_loose(kImages, scratch.path());
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
  const tests::TemporaryDirectory scratch;
  const auto records = open_records(kImages, scratch.path());
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
  CHECK(three_batches(*open_loose(kImages, scratch.path()), options()) == expected);
  CHECK(differently([](FeedOptions& o) { o.seed = 2; }) != expected);
  CHECK(differently([](FeedOptions& o) { o.augmentation = Augmentation::none; }) != expected);
}

TEST_CASE("batches and images that memory cannot hold are refused before they are made",
          "[pipeline]") {
  const FeedOptions few = options();
  CHECK_NOTHROW(require_feed_memory(few, 1 << 30));  // images are not kept in memory
  FeedOptions resident = few;
  resident.resident = true;
  // Three batches of five images of 12 KiB, and 2^40 such images.
  CHECK_THROWS_WITH(require_feed_memory(resident, std::int64_t{1} << 40),
                    Contains("3 batches of 5 images and 1099511627776 images: "
                             "13510798882295808 bytes"));
  FeedOptions ahead = few;
  ahead.size = 1 << 20;
  CHECK_THROWS_AS(require_feed_memory(ahead, 12), Infeasible);
  const tests::TemporaryDirectory scratch;
  const auto records = open_records(kImages, scratch.path());
  FeedClock clock;
  CHECK_THROWS_AS(Feed(*records, ahead, clock), Infeasible);
}

TEST_CASE("loose files need a directory that can be written", "[pipeline]") {
  const tests::TemporaryDirectory scratch;
  CHECK_THROWS_AS(open_loose(kImages, {}), UsageError);
  CHECK_THROWS_WITH(open_loose(kImages, {}), Contains("XDG_CACHE_HOME"));
  std::ofstream(scratch.path() / "file");
  CHECK_THROWS_AS(open_loose(kImages, scratch.path() / "file" / "cache"), UsageError);
  CHECK_THROWS_WITH(open_loose(kImages, scratch.path() / "file" / "cache"),
                    Contains((scratch.path() / "file" / "cache").string()));
}

TEST_CASE("stages that do not run take no time", "[pipeline]") {
  const tests::TemporaryDirectory scratch;
  const auto records = open_records(kImages, scratch.path());
  FeedOptions resident = options();
  resident.resident = true;
  resident.augmentation = Augmentation::none;
  FeedClock clock;
  Feed feed(*records, resident, clock);
  const StageSeconds made = clock.seconds();  // decoded once
  std::vector<float> batch(5 * 3 * 32 * 32);
  for (int i = 0; i < 3; ++i) feed.next(batch);
  CHECK(made[index_of(FeedStage::decode)] > 0);
  for (const FeedStage stage : {FeedStage::read, FeedStage::decode, FeedStage::augment})
    CHECK(clock.seconds()[index_of(stage)] == made[index_of(stage)]);
  CHECK(clock.seconds()[index_of(FeedStage::copy)] > 0);
}

TEST_CASE("images that are missing or damaged end the feed with a message", "[pipeline]") {
  const tests::TemporaryDirectory scratch;
  const auto loose = open_loose(kImages, scratch.path());
  fs::path folder;
  for (const auto& entry : fs::directory_iterator(scratch.path()))
    if (entry.is_directory()) folder = entry.path();
  fs::remove(folder / "000003.jpg");
  std::vector<std::byte> bytes;
  CHECK_THROWS_WITH(loose->read(3, bytes), Contains("000003.jpg"));
  for (const auto& entry : fs::directory_iterator(folder))
    std::ofstream(entry.path(), std::ios::binary) << "no image";
  std::ofstream(folder / "000003.jpg", std::ios::binary) << "no image";
  CHECK_THROWS_AS(three_batches(*loose, options()), VideoError);
}

TEST_CASE("the bottleneck is what holds the step up", "[pipeline]") {
  const PipelineContext one_reader;
  CHECK(bottleneck({10, 0.1, {1, 2, 3, 0}}, one_reader) == "step");
  CHECK(bottleneck({10, 5, {1, 2, 6.5, 0.5}}, one_reader) == "augment");
  CHECK(bottleneck({10, 5, {1, 5, 3, 0}}, one_reader) == "decode");
  CHECK(bottleneck({10, 5, {6, 2, 2, 0}}, one_reader) == "read");
  CHECK(bottleneck({10, 5, {0, 0, 0, 10}}, one_reader) == "copy");
  // At most one of the three readers works at a time, since only one batch may be prefetched.
  CHECK(bottleneck({10, 5, {1, 6, 3, 0}}, {.readers = 3, .depth = 1}) == "prefetch_depth");
  CHECK(bottleneck({10, 5, {1, 6, 3, 0}}, {.readers = 3, .depth = 3}) == "decode");
  CHECK(bottleneck({10, 5, {1, 2, 1, 0}}, {.readers = 3, .depth = 1}) == "decode");
  // Without readers the step makes its own batches.
  CHECK(bottleneck({10, 9, {1, 5, 3, 0}}, {.readers = 0}) == "decode");
  // 6 of the 10 s of the step were augmentation; where the step waits, that is not the cause.
  CHECK(bottleneck({10, 0, {1, 1, 6, 0}}, {.augments_in_step = true}) == "augment");
  CHECK(bottleneck({10, 0, {1, 1, 6, 0}}, one_reader) == "step");
  CHECK(bottleneck({10, 1, {1, 8, 8.5, 0}}, {.augments_in_step = true}) == "decode");
}

TEST_CASE("responses of a pipeline are sums over sums, with a repeat for each measurement",
          "[pipeline]") {
  // Steps of 0.5 s, 0.1 s of it without a batch; two readers work 0.3 s each meanwhile.
  PipelineMeasurement first;
  first.values.assign(20, {0.5, 0.1, {0.1, 0.4, 0.1, 0.0}});
  first.window = {100, 110};
  PipelineMeasurement second = first;
  second.values.assign(10, {1.0, 0.6, {0.1, 0.4, 0.1, 0.0}});
  second.window = {110, 120};
  const Result result = pipeline_result({first, second}, {.batch = 8, .readers = 2, .repeats = 2});
  CHECK(result.repeats.at("images_per_second") == std::vector<double>{16, 8});
  CHECK(result.responses.at("images_per_second") == Approx(12));
  CHECK(result.responses.at("idle_share") == Approx((0.2 + 0.6) / 2));
  CHECK(result.responses.at("step_time") == Approx(0.4));
  CHECK(result.repeats.at("readers_busy")[0] == Approx(0.6));
  CHECK(result.repeats.at("readers_busy")[1] == Approx(0.3));
  CHECK(result.responses.at("read_share") == Approx(1.0 / 6));
  CHECK(result.responses.at("decode_share") == Approx(4.0 / 6));
  CHECK(result.responses.at("copy_share") == 0);
  CHECK(result.window == std::pair(100.0, 120.0));
  CHECK(result.notes["steps"] == 30);
  CHECK(result.notes["bottleneck"] == "decode");
  CHECK(pipeline_result({first}, {.batch = 8, .readers = 2, .repeats = 2}).repeats.empty());
}
