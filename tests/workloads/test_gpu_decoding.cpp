#include <catch2/catch.hpp>

#include <cstdlib>
#include <random>

#include "gpu_or_skip.h"
#include "workloads/engines/engine.h"
#include "workloads/video/gpu_decoding.h"
#include "workloads/video/scene.h"
#include "workloads/video/video.h"

using namespace doetune;
using namespace doetune::workloads;

namespace {

int gpus() {
  std::string why_none;
  return engine_types().front().devices(&why_none);
}

}  // namespace

TEST_CASE("pairs of chroma become planes, whatever lies between the rows", "[video]") {
  std::mt19937 random(7);
  const int width = GENERATE(1, 2, 33), height = 3, stride = width + 5, pair_stride = 2 * width + 7;
  std::vector<std::uint8_t> pairs(pair_stride * height);
  for (std::uint8_t& sample : pairs) sample = static_cast<std::uint8_t>(random());
  std::vector<std::uint8_t> blue(stride * height, 1), red(stride * height, 2);
  libav::split_chroma(pairs.data(), pair_stride, blue.data(), red.data(), stride, width, height);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < stride; ++x) {
      const int at = y * stride + x, from = y * pair_stride + 2 * x;
      CHECK(blue[at] == (x < width ? pairs[from] : 1));
      CHECK(red[at] == (x < width ? pairs[from + 1] : 2));
    }
}

TEST_CASE("libavcodec has a decoder on the GPU for every codec of a stream", "[video]") {
  for (const AVCodecID codec :
       {AV_CODEC_ID_MJPEG, AV_CODEC_ID_MPEG4, AV_CODEC_ID_H264, AV_CODEC_ID_VP9, AV_CODEC_ID_AV1})
    CHECK(libav::gpu_decoder(codec) != nullptr);
  CHECK(libav::gpu_decoder(AV_CODEC_ID_PNG) == nullptr);
}

TEST_CASE("without a GPU, asking it to decode says that these settings do not fit the machine",
          "[video]") {
  if (gpus() > 0) return;
  CHECK_THROWS_AS(FrameDecoder(VideoCodec::h264, 0), Infeasible);
}

TEST_CASE("a GPU decodes the images that the CPU decodes", "[video]") {
  const auto codec = GENERATE(VideoCodec::h264, VideoCodec::vp9, VideoCodec::mpeg4);
  if (skipped_without("cuda")) return;
  const auto engine = make_engine("cuda");  // its context is created first, as in an executor
  FrameEncoder encoder(320, 192, codec);
  FrameDecoder on_cpu(codec), on_gpu(codec, 0);
  const Scene scene(320, 192, 3);
  YcbcrImage image(320, 192);
  for (int frame = 0; frame < 5; ++frame) {
    scene.draw(frame, image);
    const auto packet = encoder.encode(image.view());
    const YcbcrView expected = on_cpu.decode(packet), got = on_gpu.decode(packet);
    REQUIRE(got.width == expected.width);
    REQUIRE(got.full_range == expected.full_range);
    int largest = 0;  // H.264 and VP9 fix every bit (ITU-T H.264); MPEG-4 Part 2 allows one level
    for (int y = 0; y < got.height; ++y)
      for (int x = 0; x < got.width; ++x)
        largest = std::max(largest, std::abs(got.luma[y * got.luma_stride + x] -
                                             expected.luma[y * expected.luma_stride + x]));
    CHECK(largest <= (codec == VideoCodec::mpeg4 ? 2 + frame : 0));
  }
}
