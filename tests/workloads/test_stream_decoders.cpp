// The images from decoders are those of the video decoded from its start, whichever frames are
// skipped and however many threads decode.
#include <catch2/catch.hpp>

#include <cstring>
#include <numeric>
#include <random>

#include "base/file_descriptor.h"
#include "workloads/stream/decoders.h"

using namespace doetune;
using namespace doetune::workloads;

namespace {

constexpr int kClipFrames = 75;  // not a multiple of the key-frame interval

Clip clip_of(VideoCodec codec) {
  const FileDescriptor file = open_clip({64, 48, kClipFrames, 3, codec}, {});
  return Clip::read(file.get(), true).value();
}

std::vector<std::uint8_t> luma_of(const YcbcrView& source) {
  std::vector<std::uint8_t> luma;
  for (int y = 0; y < source.height; ++y) {
    const std::uint8_t* row = source.luma + static_cast<std::ptrdiff_t>(y) * source.luma_stride;
    luma.insert(luma.end(), row, row + source.width);
  }
  return luma;
}

/// A clip with one packet of zeros.
Clip broken_clip(VideoCodec codec, int frame) {
  const FileDescriptor file = open_clip({64, 48, 10, 3, codec}, {});
  const Clip clip = Clip::read(file.get(), true).value();
  const auto packet = clip.packet(frame);
  const Mapping bytes(file.get(), Access::read_write);
  std::memset(bytes.bytes().data() + (packet.data() - clip.packet(0).data()), 0, packet.size());
  return Clip::read(file.get(), false).value();
}

/// Every frame of the clip, decoded in order from the start.
std::vector<std::vector<std::uint8_t>> straight(const Clip& clip) {
  FrameDecoder decoder(clip.codec());
  std::vector<std::vector<std::uint8_t>> all;
  for (int frame = 0; frame < clip.frames(); ++frame)
    all.push_back(luma_of(decoder.decode(clip.packet(frame))));
  return all;
}

StreamFrame frame_at(int channel, std::int64_t source_frame) {
  return {channel, static_cast<int>(source_frame % kClipFrames), source_frame};
}

}  // namespace

TEST_CASE("frames picked from a camera are those of its video", "[decoders]") {
  for (const VideoCodec codec : available_codecs()) {
    CAPTURE(name_of(codec));
    const Clip clip = clip_of(codec);
    const auto expected = straight(clip);
    CameraDecoder decoder(clip);
    // Steps of any size, three times round the clip; two cameras with different starts.
    std::mt19937 random(5);
    std::int64_t at[2] = {17, 34};
    while (at[0] < 3 * kClipFrames) {
      const int channel = static_cast<int>(random() % 2);
      const StreamFrame frame = frame_at(channel, at[channel]);
      CHECK(luma_of(decoder.decode(frame)) == expected[frame.clip_frame]);
      at[channel] += random() % 12;  // 0: the same frame again
    }
    // After a gap a camera continues at a key frame.
    for (const std::int64_t later : {1000, 1500, 1501}) {
      if (later != 1501) decoder.skip();
      const StreamFrame frame = frame_at(0, later);
      CHECK(luma_of(decoder.decode(frame)) == expected[frame.clip_frame]);
    }
  }
}

TEST_CASE("threads that decode ahead give the same images in the same order", "[decoders]") {
  const StreamPlan plan{5, 7, 1, 30, kClipFrames};
  for (const VideoCodec codec : {VideoCodec::mjpeg, VideoCodec::mpeg4}) {
    const Clip clip = clip_of(codec);
    const auto expected = straight(clip);
    const ShareBy by = each_frame_by_itself(codec) ? ShareBy::image : ShareBy::channel;
    for (const int threads : {0, 1, 3, 8})
      for (const int ahead : {1, 4, 64}) {
        CAPTURE(name_of(codec), threads, ahead);
        Decoders decoders(clip, threads, ahead);
        for (const std::int64_t k : {0, 1, 2, 9, 10}) {
          const auto share = share_of(plan, frames_of(plan, k), by, 0, 1);
          decoders.begin(share, k == 9);
          for (const StreamFrame& frame : share)
            REQUIRE(luma_of(decoders.next().view) == expected[frame.clip_frame]);
          CHECK(decoders.take_busy_s() > 0);
        }
      }
  }
}

TEST_CASE("decoders that are left with images not taken end all the same", "[decoders]") {
  const Clip clip = clip_of(VideoCodec::mjpeg);
  const StreamPlan plan{50, 7, 1, 30, kClipFrames};
  for (const int taken : {0, 1, 20}) {
    Decoders decoders(clip, 3, 4);
    decoders.begin(frames_of(plan, 0), false);
    for (int i = 0; i < taken; ++i) decoders.next();
  }
}

TEST_CASE("a packet that is broken is reported to the one who wants its image", "[decoders]") {
  const Clip clip = broken_clip(VideoCodec::mjpeg, 4);
  std::vector<StreamFrame> share;
  for (int i = 0; i < 10; ++i) share.push_back({0, i, i});
  for (const int threads : {0, 2}) {
    Decoders decoders(clip, threads, 4);
    decoders.begin(share, false);
    CHECK_THROWS_AS(
        [&] {
          for (int i = 0; i < 10; ++i) decoders.next();
        }(),
        VideoError);
  }
}

TEST_CASE("frames that nobody analyses are decoded only where others build on them", "[decoders]") {
  const Clip by_itself = broken_clip(VideoCodec::mjpeg, 4);
  CameraDecoder skipping(by_itself);
  skipping.decode({0, 1, 1});
  CHECK_NOTHROW(skipping.decode({0, 8, 8}));
  const Clip changes = broken_clip(VideoCodec::mpeg4, 4);
  CameraDecoder following(changes);
  following.decode({0, 1, 1});
  CHECK_THROWS_AS(following.decode({0, 8, 8}), VideoError);
}
