// Video files: each frame is of a different grey, which identifies it.
#include <catch2/catch.hpp>

#include <cmath>
#include <fstream>

#include "base/random.h"
#include "tests/temporary_directory.h"
#include "tests/workloads/made_video.h"
#include "workloads/video/video.h"
#include "workloads/video/video_file.h"
#include "workloads/video/video_writer.h"

using namespace doetune;
using namespace doetune::workloads;
using doetune::tests::frame_of;
using doetune::tests::grey_of;
using doetune::tests::MadeVideo;
using doetune::tests::make_video;
using doetune::tests::TemporaryDirectory;

namespace {

std::uint8_t centre(const DecodedImage& image) {
  const YcbcrView& view = image.view;
  return view.luma[view.height / 2 * view.luma_stride + view.width / 2];
}

std::string bytes_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write_bytes(const std::filesystem::path& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary).write(bytes.data(), std::ssize(bytes));
}

/// Reads the whole file; returns whether it is a video at all.
bool survives(const std::filesystem::path& file) {
  try {
    VideoReader reader(file);
    const auto frames = std::min<std::int64_t>(reader.information().frames, 200);
    for (std::int64_t i = 0; i < frames; ++i) CHECK(reader.frame(i).view.width > 0);
    reader.frame(frames / 2);
    return true;
  } catch (const VideoError&) {
    return false;
  }
}

}  // namespace

TEST_CASE("a video states its size, rate and frames, and gives them by number in any order",
          "[video-file]") {
  const TemporaryDirectory scratch;
  struct Case {
    const char* file;
    MadeVideo video;
  };
  const std::vector<Case> cases{{"keys.avi", {"mjpeg"}},
                                {"groups.avi", {"mpeg4"}},
                                {"one-group.mkv", {"mpeg4", 60, 600}},
                                {"b-frames.mp4", {"mpeg4", 60, 12, 2}},
                                {"b-frames.mkv", {"mpeg4", 60, 12, 2}},
                                {"b-frames.ts", {"mpeg2video", 60, 12, 2}},
                                {"b-frames.mpg", {"mpeg2video", 60, 12, 2}},
                                {"exact.mkv", {"ffv1"}}};
  for (const auto& [name, video] : cases) {
    CAPTURE(name);
    make_video(scratch / name, video);
    VideoReader reader(scratch / name);
    const VideoInformation& reported = reader.information();
    CHECK(reported.width == 96);
    CHECK(reported.height == 64);
    CHECK(reported.frames_per_second == Approx(25));
    REQUIRE(reported.frames == 60);
    CHECK(reported.expected == 60);
    for (int i = 0; i < 60; ++i) CHECK(frame_of(centre(reader.frame(i))) == i);
    for (std::uint64_t k = 0; k < 40; ++k) {
      const int i = static_cast<int>(random_bits(3, k) % 60);
      CHECK(frame_of(centre(reader.frame(i))) == i);
      CHECK(frame_of(centre(reader.frame(i))) == i);
    }
    CHECK(reader.undecodable() == 0);
  }
}

TEST_CASE("a video without images, or none at all, is an error", "[video-file]") {
  const TemporaryDirectory scratch;
  const auto fails = [&](const char* name, const char* reason) {
    CHECK_THROWS_WITH(VideoReader(scratch / name), Catch::Contains(reason));
  };
  VideoWriter(scratch / "empty.avi", "avi", 64, 64, 25).finish();
  fails("empty.avi", "no frames");
  fails("absent.avi", "No such file");
  write_bytes(scratch / "text.avi", "not a video");
  fails("text.avi", "cannot be read as a video");
  write_bytes(scratch / "nothing.mp4", "");
  fails("nothing.mp4", "cannot be read as a video");
}

TEST_CASE("a file that refers to others is not followed", "[video-file]") {
  const TemporaryDirectory scratch;
  make_video(scratch / "video.avi", {});
  const std::string video = (scratch / "video.avi").string();
  write_bytes(scratch / "list.ffconcat", "ffconcat version 1.0\nfile video.avi\n");
  write_bytes(scratch / "list.m3u8",
              "#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\n" + video + "\n#EXT-X-ENDLIST\n");
  for (const char* name : {"list.ffconcat", "list.m3u8"})
    CHECK_THROWS_AS(VideoReader(scratch / name), VideoError);
  CHECK_THROWS_AS(VideoReader("concat:" + video), VideoError);
}

TEST_CASE("a video cut off gives the frames that are there, and states how many there should be",
          "[video-file]") {
  const TemporaryDirectory scratch;
  for (const char* name : {"whole.avi", "whole.mkv"}) {
    make_video(scratch / name, {});
    const std::string whole = bytes_of(scratch / name);
    write_bytes(scratch / "cut", whole.substr(0, whole.size() / 2));
    VideoReader reader(scratch / "cut");
    const VideoInformation& reported = reader.information();
    CHECK(reported.expected == 60);
    REQUIRE(reported.frames > 10);
    REQUIRE(reported.frames < 50);
    for (int i = 0; i + 1 < reported.frames; ++i) CHECK(frame_of(centre(reader.frame(i))) == i);
  }
}

TEST_CASE("no cut and no damage makes reading crash, hang or run out of memory", "[video-file]") {
  const TemporaryDirectory scratch;
  int readable = 0;
  for (const char* name : {"whole.avi", "whole.mkv", "whole.mp4"}) {
    make_video(scratch / name, {"mpeg4", 30, 12, 2});
    const std::string whole = bytes_of(scratch / name);
    for (std::uint64_t k = 0; k < 60; ++k) {
      CAPTURE(name, k);
      std::string damaged = whole;
      if (k % 3 == 0) damaged.resize(random_bits(1, k) % whole.size());
      for (std::uint64_t flip = 0; k % 3 != 0 && flip < 4; ++flip) {
        // Half of the flips are in the header, which holds sizes.
        const std::uint64_t bits = random_bits(k, flip);
        const std::size_t within =
            k % 3 == 1 ? std::min<std::size_t>(600, whole.size()) : whole.size();
        damaged[bits % within] ^= static_cast<char>(1 << (bits >> 60 & 7));
      }
      write_bytes(scratch / "damaged", damaged);
      readable += survives(scratch / "damaged");
    }
  }
  CHECK(readable > 0);
  CHECK(readable < 180);
}

TEST_CASE("a written video has the images, the rate and the size that it was given",
          "[video-file]") {
  const TemporaryDirectory scratch;
  FrameEncoder encoder(64, 48);
  for (const char* name : {"v.avi", "v.mkv", "v.mov", "v.mp4"}) {
    CAPTURE(name);
    VideoWriter writer(scratch / name, container_of(name), 64, 48, 12.5);
    for (int i = 0; i < 20; ++i) {
      YcbcrImage image(64, 48);
      for (int y = 0; y < 48; ++y)
        std::fill_n(image.luma_row(y), 64, static_cast<std::uint8_t>(grey_of(i)));
      writer.add(encoder.encode(image.view()));
    }
    writer.finish();
    VideoReader reader(scratch / name);
    CHECK(reader.information().frames == 20);
    CHECK(reader.information().frames_per_second == Approx(12.5).epsilon(1e-3));
    CHECK(reader.information().width == 64);
    for (int i = 0; i < 20; ++i) CHECK(frame_of(centre(reader.frame(i))) == i);
  }
  CHECK(container_of("v.txt").empty());
  CHECK_THROWS_AS(VideoWriter("/nowhere/v.avi", "avi", 64, 48, 25), VideoError);
}
