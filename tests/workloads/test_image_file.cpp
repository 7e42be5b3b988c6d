// Image files, verified by the definitions of the formats: PPM and PGM hold the samples directly.
#include <catch2/catch.hpp>

#include <fstream>
#include <span>

#include "base/random.h"
#include "tests/temporary_directory.h"
#include "workloads/video/drawing.h"
#include "workloads/video/image_file.h"
#include "workloads/video/scene.h"

using namespace doetune;
using namespace doetune::workloads;
using doetune::tests::TemporaryDirectory;

namespace {

std::vector<std::byte> to_bytes(const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

/// A PPM file of 8 x 6 pixels: the left half of one colour, the right half of another.
std::string ppm(std::array<int, 3> left, std::array<int, 3> right) {
  std::string text = "P6\n8 6\n255\n";
  for (int y = 0; y < 6; ++y)
    for (int x = 0; x < 8; ++x)
      for (const int level : x < 4 ? left : right) text += static_cast<char>(level);
  return text;
}

std::vector<std::byte> jpeg(std::uint64_t seed) {
  YcbcrImage image(64, 48);
  Scene(64, 48, seed).draw(0, image);
  return FrameEncoder(64, 48).encode(image.view());
}

void write(const std::filesystem::path& file, const std::string& bytes = "x") {
  std::ofstream(file, std::ios::binary).write(bytes.data(), std::ssize(bytes));
}

}  // namespace

TEST_CASE("colours of a file come to the network as they are", "[image-file]") {
  ImageDecoder decoder;
  const std::array<int, 3> orange{230, 120, 10};
  const std::array<int, 3> blue{5, 60, 200};
  std::vector<float> rgb(3 * 8 * 6);
  const DecodedImage image = decoder.decode(to_bytes(ppm(orange, blue)));
  CHECK(image.view.width == 8);
  CHECK(image.view.height == 6);
  Resizer({6, 8})(image.view, rgb);
  for (int x = 0; x < 8; ++x)
    for (int c = 0; c < 3; ++c)
      CHECK(255 * rgb[3 * (8 * 2 + x) + c] ==
            Approx((x < 4 ? orange : blue)[c]).margin(2.5));  // rounding of three 8-bit samples

  const DecodedImage grey = decoder.decode(to_bytes("P5\n2 2\n255\n" + std::string(4, '\x33')));
  Resizer({6, 8})(grey.view, rgb);
  for (const float level : rgb) CHECK(255 * level == Approx(0x33));
}

TEST_CASE("an image outlives the decoding of the next one", "[image-file]") {
  ImageDecoder decoder;
  const DecodedImage first = decoder.decode(jpeg(1));
  const std::vector<std::uint8_t> before(first.view.luma, first.view.luma + 64);
  const DecodedImage second = decoder.decode(jpeg(2));
  CHECK(std::equal(before.begin(), before.end(), first.view.luma));
  CHECK_FALSE(std::equal(before.begin(), before.end(), second.view.luma));
}

TEST_CASE("an image file cut off is an error, and the next one decodes", "[image-file]") {
  ImageDecoder decoder;
  for (const auto& whole : {jpeg(1), to_bytes(ppm({1, 2, 3}, {4, 5, 6}))}) {
    // libavcodec tolerates a JPEG whose last block is incomplete.
    for (std::size_t length = 0; length < whole.size() * 95 / 100; length += 7)
      CHECK_THROWS_AS(decoder.decode(std::span(whole).first(length)), VideoError);
    CHECK(decoder.decode(whole).view.width > 0);
  }
}

TEST_CASE("damage to an image file gives an error or an image, never a crash", "[image-file]") {
  ImageDecoder decoder;
  const auto whole = jpeg(1);
  int errors = 0;
  for (std::uint64_t k = 0; k < 500; ++k) {
    auto damaged = whole;
    for (std::uint64_t flip = 0; flip < 3; ++flip) {
      const std::uint64_t bits = random_bits(k, flip);
      damaged[bits % damaged.size()] ^= static_cast<std::byte>(1 << (bits >> 60 & 7));
    }
    try {
      decoder.decode(damaged);
    } catch (const VideoError&) {
      ++errors;
    }
  }
  CHECK(errors > 0);
  CHECK(decoder.decode(whole).view.width == 64);
}

TEST_CASE("files that are no images, and sizes that no image has, are errors", "[image-file]") {
  const TemporaryDirectory scratch;
  ImageDecoder decoder;
  CHECK_THROWS_WITH(decoder.decode(to_bytes("")), Catch::Contains("empty"));
  CHECK_THROWS_WITH(decoder.decode(to_bytes("hello")), Catch::Contains("not a JPEG"));
  CHECK_THROWS_AS(decoder.decode(to_bytes("P6\n100000 100000\n255\n")), VideoError);
  CHECK_THROWS_WITH(read_file(scratch / "absent.jpg"), Catch::Contains("No such file"));
  write(scratch / "huge.ppm");
  std::filesystem::resize_file(scratch / "huge.ppm", kMaxFileBytes + 1);  // sparse
  CHECK_THROWS_WITH(read_file(scratch / "huge.ppm"), Catch::Contains("for an image"));
}

TEST_CASE("the images of a directory are those of the tree, sorted by path", "[image-file]") {
  const TemporaryDirectory scratch;
  std::filesystem::create_directories(scratch / "b" / "deep");
  for (const char* name : {"z.JPG", "a.png", "b/1.ppm", "b/deep/2.bmp", "notes.txt", "b/jpg"})
    write(scratch / name);
  std::filesystem::create_directory_symlink(scratch.path(), scratch / "b" / "loop");
  const std::vector<std::filesystem::path> expected{scratch / "a.png", scratch / "b/1.ppm",
                                                    scratch / "b/deep/2.bmp", scratch / "z.JPG"};
  CHECK(images_in(scratch.path()) == expected);
}

TEST_CASE("a ring is red at its radius and leaves all else as it was", "[drawing]") {
  const DecodedImage grey =
      ImageDecoder().decode(to_bytes("P5\n65 49\n255\n" + std::string(65 * 49, '\x50')));
  YcbcrImage image = drawable(grey.view);
  const YcbcrView view = image.view();
  CHECK(view.width == 64);  // even
  CHECK(view.height == 48);
  draw_ring(image, 30, 20, 10);
  draw_ring(image, 0, 0, 5);      // partly outside
  draw_ring(image, -50, 500, 9);  // and completely
  for (int y = 0; y < 48; ++y)
    for (int x = 0; x < 64; ++x) {
      const double off = std::abs(std::hypot(x - 30, y - 20) - 10);
      const double off_corner = std::abs(std::hypot(x, y) - 5);
      CHECK((view.luma[y * view.luma_stride + x] == 76) == (off <= 1 || off_corner <= 1));
    }
  CHECK(view.red[10 * view.chroma_stride + 20] == 255);  // chroma of (40, 20), on the ring
  CHECK(view.red[10 * view.chroma_stride + 15] == 128);  // its centre
}

TEST_CASE("a copy to draw on has the colours of video of either range", "[drawing]") {
  // Black and white are luma 16 and 235 in video (BT.601), 0 and 255 in images.
  const std::vector<std::uint8_t> luma{16, 16, 235, 235};
  const std::vector<std::uint8_t> chroma{128, 240};
  YcbcrView view{2, 2, luma.data(), chroma.data(), chroma.data() + 1, 2, 1, 1, 1, false};
  const YcbcrImage image = drawable(view);
  CHECK(image.view().luma[0] == 0);
  CHECK(image.view().luma[2] == 255);
  CHECK(image.view().blue[0] == 128);
  CHECK(image.view().red[0] == 255);
}
