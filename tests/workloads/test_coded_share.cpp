// Shares of micro-batches as bytes: what is written is read, and damaged bytes are refused.
#include <catch2/catch.hpp>

#include <cstring>

#include "workloads/spark/coded_share.h"

using namespace doetune;
using namespace doetune::workloads;

namespace {

std::vector<std::byte> example() {
  const FileDescriptor file = open_clip({64, 48, 5, 3}, {});
  const Clip clip = Clip::read(file.get(), true).value();
  const std::vector<StreamFrame> frames{{7, 3, 13}, {8, 0, 15}};
  return to_bytes(clip, 12, 1, frames);
}

}  // namespace

TEST_CASE("a share is read as it was written", "[spark]") {
  const std::vector<std::byte> bytes = example();
  const CodedShare share = share_in(bytes);
  CHECK(share.micro_batch == 12);
  CHECK(share.share == 1);
  REQUIRE(share.frames.size() == 2);
  CHECK(share.frames[0].channel == 7);
  CHECK(share.frames[0].source_frame == 13);
  CHECK(share.frames[1].channel == 8);
  FrameDecoder decoder;
  for (const CodedFrame& frame : share.frames) CHECK(decoder.decode(frame.packet).width == 64);
  CHECK(share_in(to_bytes(Clip(), 4, 0, {})).frames.empty());
}

TEST_CASE("a share that is not whole is refused", "[spark]") {
  const std::vector<std::byte> bytes = example();
  for (std::size_t size = 0; size < bytes.size(); ++size)
    CHECK_THROWS_AS(share_in(std::span(bytes).first(size)), std::invalid_argument);
  for (const std::int64_t number : {std::int64_t{-1}, std::int64_t{1} << 40, std::int64_t{1} << 62})
    for (const int place : {2, 5}) {  // the number of frames, the size of the first
      std::vector<std::byte> damaged = bytes;
      std::memcpy(damaged.data() + 8 * place, &number, sizeof number);
      CHECK_THROWS_AS(share_in(damaged), std::invalid_argument);
    }
}
