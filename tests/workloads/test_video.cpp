#include <catch2/catch.hpp>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <new>
#include <random>
#include <thread>

#include "base/file_descriptor.h"
#include "tests/temporary_directory.h"
#include "workloads/video/clip.h"
#include "workloads/video/scene.h"
#include "workloads/video/video.h"
#include "workloads/video/ycbcr_image.h"

using namespace doetune;
using namespace doetune::workloads;
using doetune::tests::TemporaryDirectory;

namespace {

YcbcrImage uniform(int width, int height, std::uint8_t luma, std::uint8_t blue, std::uint8_t red) {
  YcbcrImage image(width, height);
  for (int y = 0; y < height; ++y) std::fill_n(image.luma_row(y), width, luma);
  for (int y = 0; y < height / 2; ++y) {
    std::fill_n(image.blue_row(y), width / 2, blue);
    std::fill_n(image.red_row(y), width / 2, red);
  }
  return image;
}

}  // namespace

TEST_CASE("a uniform image becomes its colour at any size", "[image]") {
  // JPEG (JFIF 1.02): red is Y 76, Cb 85, Cr 255.
  const YcbcrImage red = uniform(64, 48, 76, 85, 255);
  for (const int size : {7, 32, 100}) {
    std::vector<float> rgb(3 * size * size);
    Resizer({size, size})(red.view(), rgb);
    for (std::size_t i = 0; i < rgb.size(); i += 3) {
      CHECK(rgb[i] == Approx(1.0).margin(0.01));
      CHECK(rgb[i + 1] == Approx(0.0).margin(0.01));
      CHECK(rgb[i + 2] == Approx(0.0).margin(0.01));
    }
  }
}

TEST_CASE("resizing is linear between samples", "[image]") {
  // A luma ramp of 2 per column, halved: each output pixel is midway between two columns.
  YcbcrImage ramp = uniform(32, 32, 0, 128, 128);
  for (int y = 0; y < 32; ++y)
    for (int x = 0; x < 32; ++x) ramp.luma_row(y)[x] = static_cast<std::uint8_t>(2 * x);
  std::vector<float> rgb(3 * 16 * 16);
  Resizer({16, 16})(ramp.view(), rgb);
  for (int x = 0; x < 16; ++x)
    CHECK(rgb[3 * (5 * 16 + x) + 1] == Approx((4 * x + 1) / 255.0).epsilon(1e-5));
  // Enlarged: edges repeat, and values stay within the input's range.
  rgb.resize(3 * 64 * 64);
  Resizer({64, 64})(ramp.view(), rgb);
  CHECK(rgb[0] == 0.0F);
  CHECK(rgb[3 * 63] == Approx(62 / 255.0));
  CHECK(rgb[3 * 2] == Approx(2 * 0.75 / 255.0));  // centre of output 2 is input 0.75
}

TEST_CASE("drawn images survive coding and decoding by every codec, at once and in order",
          "[video]") {
  for (const VideoCodec codec : available_codecs()) {
    CAPTURE(name_of(codec));
    const Scene scene(128, 64, 1);
    YcbcrImage image(128, 64);
    FrameEncoder encoder(128, 64, codec);
    FrameDecoder decoder(codec);
    for (int i = 0; i < 2 * kKeyFrameInterval; ++i) {
      scene.draw(i, image);
      const YcbcrView decoded = decoder.decode(encoder.encode(image.view()));
      if (i == 0) CHECK(encoder.key_frame());
      if (each_frame_by_itself(codec)) CHECK(encoder.key_frame());
      REQUIRE(decoded.width == 128);
      REQUIRE(decoded.height == 64);
      CHECK(decoded.full_range == (codec == VideoCodec::mjpeg));
      double squares = 0;
      for (int y = 0; y < 64; ++y)
        for (int x = 0; x < 128; ++x) {
          const int coded = decoded.luma[y * decoded.luma_stride + x];
          const double luma = decoded.full_range ? coded : (coded - 16) * 255.0 / 219;
          squares += std::pow(image.luma_row(y)[x] - luma, 2);
        }
      // Grey levels: the drawn noise (5), which coding smooths, and blur around moving objects.
      CHECK(std::sqrt(squares / (128 * 64)) < 10);
    }
  }
}

TEST_CASE("a colour is the same whatever codec carries it", "[video]") {
  // JPEG (JFIF 1.02): red is Y 76, Cb 85, Cr 255; in video range (BT.601) it is 81, 90, 240.
  const YcbcrImage red = uniform(64, 48, 76, 85, 255);
  for (const VideoCodec codec : available_codecs()) {
    CAPTURE(name_of(codec));
    FrameDecoder decoder(codec);
    std::vector<float> rgb(3 * 16 * 16);
    Resizer({16, 16})(decoder.decode(FrameEncoder(64, 48, codec).encode(red.view())), rgb);
    for (std::size_t i = 0; i < rgb.size(); i += 3) {
      CHECK(rgb[i] == Approx(1.0).margin(0.03));
      CHECK(rgb[i + 1] == Approx(0.0).margin(0.03));
      CHECK(rgb[i + 2] == Approx(0.0).margin(0.03));
    }
  }
}

TEST_CASE("codecs have names", "[video]") {
  for (const VideoCodec codec : available_codecs())
    CHECK(video_codec_named(name_of(codec)) == codec);
  CHECK_THROWS_AS(video_codec_named("mjpg"), std::invalid_argument);
  const auto available = available_codecs();
  CHECK(std::ranges::find(available, VideoCodec::mjpeg) != available.end());
}

TEST_CASE("an image that is held outlives the next one and its decoder", "[video]") {
  const auto bright = FrameEncoder(64, 64).encode(uniform(64, 64, 200, 128, 128).view());
  const auto dark = FrameEncoder(64, 64).encode(uniform(64, 64, 20, 128, 128).view());
  auto decoder = std::make_unique<FrameDecoder>();
  const YcbcrView image = decoder->decode(bright);
  const auto owner = decoder->hold();
  decoder->decode(dark);
  decoder.reset();
  CHECK(std::abs(image.luma[0] - 200) < 4);
}

TEST_CASE("a scene moves, and the same seed draws the same frame", "[video]") {
  YcbcrImage a(64, 64), b(64, 64), later(64, 64);
  Scene(64, 64, 9).draw(5, a);
  Scene(64, 64, 9).draw(5, b);
  Scene(64, 64, 9).draw(6, later);
  CHECK(std::equal(a.luma_row(0), a.luma_row(0) + 64 * 64, b.luma_row(0)));
  CHECK_FALSE(std::equal(a.luma_row(0), a.luma_row(0) + 64 * 64, later.luma_row(0)));
}

TEST_CASE("a broken packet is an error, and the next good one decodes", "[video]") {
  FrameEncoder encoder(64, 64);
  const YcbcrImage image = uniform(64, 64, 100, 128, 128);
  const auto good = encoder.encode(image.view());
  FrameDecoder decoder;
  CHECK_THROWS_AS(decoder.decode(std::vector<std::byte>(100)), VideoError);
  CHECK(decoder.decode(good).width == 64);
}

TEST_CASE("a clip is made once, kept, and made again when damaged", "[clip]") {
  const TemporaryDirectory cache;
  const ClipSpec spec{64, 48, 5, 1};
  const auto path = cache.path() / spec.file_name();
  {
    const FileDescriptor file = open_clip(spec, cache.path());
    const auto clip = Clip::read(file.get(), true);
    REQUIRE(clip);
    CHECK(clip->frames() == 5);
    FrameDecoder decoder;
    for (int frame = 0; frame < 5; ++frame) CHECK(decoder.decode(clip->packet(frame)).width == 64);
  }
  const auto made = std::filesystem::last_write_time(path);
  open_clip(spec, cache.path());
  CHECK(std::filesystem::last_write_time(path) == made);
  {
    std::fstream damage(path, std::ios::in | std::ios::out | std::ios::binary);
    damage.seekp(100);
    damage.put('?');
  }
  const FileDescriptor again = open_clip(spec, cache.path());
  CHECK(Clip::read(again.get(), true));
  CHECK(std::filesystem::last_write_time(path) != made);
}

TEST_CASE("a clip states its codec, and from which frame each frame is decoded", "[clip]") {
  const TemporaryDirectory cache;
  for (const VideoCodec codec : available_codecs()) {
    CAPTURE(name_of(codec));
    const FileDescriptor file = open_clip({64, 48, 70, 1, codec}, cache.path());
    const auto clip = Clip::read(file.get(), true);
    REQUIRE(clip);
    CHECK(clip->codec() == codec);
    for (int frame = 0; frame < 70; ++frame) {
      const int from = clip->key_frame(frame);
      REQUIRE((0 <= from && from <= frame));
      CHECK(frame - from < kKeyFrameInterval);
      if (each_frame_by_itself(codec)) CHECK(from == frame);
      if (from != frame) continue;
      FrameDecoder decoder(codec);
      CHECK(decoder.decode(clip->packet(frame)).width == 64);
    }
  }
}

TEST_CASE("whatever a damaged clip's numbers say, packets lie within the file", "[clip]") {
  const TemporaryDirectory cache;
  const ClipSpec spec{64, 48, 6, 1};
  const FileDescriptor file = open_clip(spec, cache.path());
  std::string bytes(std::filesystem::file_size(cache.path() / spec.file_name()), '\0');
  REQUIRE(pread(file.get(), bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()));
  std::mt19937 random(7);
  int read = 0;
  for (int round = 0; round < 2000; ++round) {
    std::string damaged = bytes;
    const std::size_t numbers = 8 * (6 + 7 + 4);  // the footer
    for (int i = 0; i < 3; ++i)
      damaged[bytes.size() - 1 - random() % numbers] = static_cast<char>(random() % 256);
    const FileDescriptor copy = make_memory_file("damaged", damaged.size());
    REQUIRE(pwrite(copy.get(), damaged.data(), damaged.size(), 0) > 0);
    const auto clip = Clip::read(copy.get(), false);
    if (!clip) continue;
    ++read;
    for (int frame = 0; frame < clip->frames(); ++frame) {
      const auto packet = clip->packet(frame);
      unsigned sum = 0;  // reads every byte, so that sanitizers and the kernel detect errors
      for (const std::byte byte : packet) sum += static_cast<unsigned>(byte);
      CHECK(packet.size() <= bytes.size());
      CHECK(sum <= 255 * bytes.size());
      CHECK((clip->key_frame(frame) >= 0 && clip->key_frame(frame) <= frame));
    }
  }
  CHECK(read > 0);
  CHECK(read < 2000);
}

TEST_CASE("a clip cut off at any length is not read", "[clip]") {
  const TemporaryDirectory cache;
  const ClipSpec spec{64, 48, 2, 1};
  const auto path = cache.path() / spec.file_name();
  open_clip(spec, cache.path());
  const auto size = std::filesystem::file_size(path);
  std::filesystem::rename(path, cache.path() / "whole");
  for (std::uintmax_t length = 0; length < size; ++length) {
    std::filesystem::copy_file(cache.path() / "whole", path,
                               std::filesystem::copy_options::overwrite_existing);
    std::filesystem::resize_file(path, length);
    const int fd = open(path.c_str(), O_RDONLY);
    CHECK_FALSE(Clip::read(fd, true));
    close(fd);
  }
}

TEST_CASE("programs that want a clip at once all get a whole one", "[clip]") {
  const TemporaryDirectory cache;
  std::vector<std::thread> programs;
  std::atomic<int> whole = 0;
  for (int i = 0; i < 4; ++i)
    programs.emplace_back([&] {
      const FileDescriptor file = open_clip({64, 48, 20, 1}, cache.path());
      whole += Clip::read(file.get(), true).has_value();
    });
  for (std::thread& program : programs) program.join();
  CHECK(whole == 4);
}

TEST_CASE("without a directory to keep it the clip is made in memory", "[clip]") {
  for (const char* directory : {"", "/proc/nowhere"}) {
    const FileDescriptor file = open_clip({64, 48, 2, 1}, directory);
    CHECK(Clip::read(file.get(), true));
  }
}

#ifndef DOETUNE_SANITIZED  // sanitizers reserve address space themselves
namespace {

/// Leaves this process only enough memory for small objects.
void use_up_memory() {
  const rlimit none{0, 0};
  setrlimit(RLIMIT_AS, &none);
  for (std::size_t bytes = std::size_t{1} << 26; bytes >= 1 << 16; bytes /= 2)
    for (void* volatile taken = std::malloc(bytes); taken != nullptr;) taken = std::malloc(bytes);
}

}  // namespace

TEST_CASE("a frame that there is no memory to code is no fault of the video", "[video]") {
  const YcbcrImage image = uniform(4096, 4096, 100, 110, 120);
  for (const VideoCodec codec : {VideoCodec::mjpeg, VideoCodec::mpeg4}) {
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      FrameEncoder encoder(4096, 4096, codec);
      use_up_memory();
      try {
        encoder.encode(image.view());
        _exit(1);
      } catch (const std::bad_alloc&) {
        _exit(0);
      } catch (...) {
        _exit(2);
      }
    }
    int status = -1;
    waitpid(child, &status, 0);
    CHECK(status == 0);
  }
}
#endif
