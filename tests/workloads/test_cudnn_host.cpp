#include <catch2/catch.hpp>

#include <algorithm>
#include <bit>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>

#include "base/random.h"
#include "workloads/engines/cudnn/cudnn_engine.h"
#include "workloads/engines/cudnn/indexing.h"
#include "workloads/engines/cudnn/packed_weights.h"
#include "workloads/engines/cudnn/plan_cache.h"
#include "workloads/video/ycbcr_image.h"

using namespace doetune;
using namespace doetune::workloads;
using namespace doetune::workloads::cudnn;

namespace {

struct HostFolder {
  std::filesystem::path path;
  HostFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "doetune-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path = name;
  }
  ~HostFolder() { std::filesystem::remove_all(path); }
};

std::uint16_t bits16(const std::vector<std::byte>& bytes) {
  std::uint16_t bits = 0;
  std::memcpy(&bits, bytes.data(), sizeof bits);
  return bits;
}

std::uint16_t bf16(float x) { return bits16(rounded(std::span(&x, 1), Precision::bf16)); }
std::uint16_t fp16(float x) { return bits16(rounded(std::span(&x, 1), Precision::fp16)); }

std::string contents(const std::filesystem::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path) << text;
}

const Choice kChoice{Fusion::bias, {41, {{2, 5}, {13, -1}}}};

PlanCache cache_in(const HostFolder& folder) { return {folder.path, "NVIDIA H200", 91900}; }

}  // namespace

// -- arithmetic of the kernels --------------------------------------------------------------------

TEST_CASE("the GPU's resizing is Resizer's to the last bit", "[cuda]") {
  struct Sizes {
    int width, height, chroma_width, chroma_height;
    Extent to;
  };
  const Sizes cases[] = {{64, 48, 32, 24, {31, 17}},
                         {17, 9, 9, 5, {40, 40}},
                         {20, 20, 20, 20, {20, 20}},
                         {1, 1, 1, 1, {3, 3}}};
  std::uint64_t next = 0;
  for (const auto& [width, height, chroma_width, chroma_height, to] : cases)
    for (const bool full_range : {true, false}) {
      std::vector<std::uint8_t> planes(width * height + 2 * chroma_width * chroma_height);
      for (auto& sample : planes) sample = static_cast<std::uint8_t>(random_bits(7, next++));
      const PlanarImage planar{planes.data(), width,         height,
                               chroma_width,  chroma_height, full_range};
      const std::uint8_t* blue = planes.data() + luma_bytes(planar);
      const YcbcrView view{
          width, height,       planes.data(), blue,          blue + chroma_bytes(planar),
          width, chroma_width, chroma_width,  chroma_height, full_range};
      std::vector<float> expected(3 * to.height * to.width);
      Resizer resizer(to);
      resizer(view, expected);
      const float* pixel = expected.data();
      int different = 0;
      for (int y = 0; y < to.height; ++y)
        for (int x = 0; x < to.width; ++x, pixel += 3) {
          const Rgb rgb = resized_pixel(planar, to, y, x);
          different += rgb.red != pixel[0] || rgb.green != pixel[1] || rgb.blue != pixel[2];
        }
      CHECK(different == 0);
    }
}

TEST_CASE("the GPU's reorg is Darknet's", "[cuda]") {
  for (const Shape& input : {Shape{64, 26, 26}, Shape{8, 4, 6}, Shape{18, 9, 6}})
    for (const int stride : {1, 2, 3}) {
      if (input.height % stride != 0 || input.width % stride != 0 ||
          input.channels % (stride * stride) != 0)
        continue;
      const int height = input.height / stride;
      const int width = input.width / stride;
      std::int64_t index = 0;
      std::int64_t different = 0;
      for (int c = 0; c < input.channels * stride * stride; ++c)
        for (int y = 0; y < height; ++y)
          for (int x = 0; x < width; ++x, ++index) {
            const Position from = reorg_from(input, stride, c, y, x);
            const std::int64_t at =
                (std::int64_t{from.channel} * input.height + from.y) * input.width + from.x;
            different += at != reorg_source(input, stride, index);
          }
      CHECK(different == 0);
    }
}

TEST_CASE("windows hold what lies inside", "[cuda]") {
  for (int size = 1; size < 8; ++size)
    for (int kernel = 1; kernel < 5; ++kernel)
      for (int stride = 1; stride < 3; ++stride)
        for (int pad = 0; pad < kernel; ++pad)
          for (int out = 0; out < 8; ++out) {
            std::set<int> inside;
            for (int at = 0; at < kernel; ++at)
              if (const int from = out * stride - pad + at; from >= 0 && from < size)
                inside.insert(from);
            const Range range = window(out, kernel, stride, pad, size);
            std::set<int> found;
            for (int at = range.begin; at < range.end; ++at) found.insert(at);
            REQUIRE(found == inside);
          }
}

TEST_CASE("threads cover every element of a view once and nothing beyond", "[cuda]") {
  constexpr int kImages = 3;
  const View view{nullptr, 5, 4, 7, 8};
  std::set<std::int64_t> seen;
  for (std::uint32_t i = 0; i < 5 * 4 * 7 * kImages; ++i) {
    const Position at = position_of(i, view.channels, view.height, view.width);
    seen.insert(pixel_at(view, at.image, at.y, at.x) + at.channel);
  }
  CHECK(seen.size() == 5 * 4 * 7 * kImages);
  CHECK(*seen.begin() == 0);
  CHECK(*seen.rbegin() == (4 * 7 * kImages - 1) * 8 + 4);
}

TEST_CASE("addresses beyond 2^31 elements are right", "[cuda]") {
  const View view{nullptr, 64, 608, 608, 64};
  CHECK(pixel_at(view, 255, 607, 607) == (std::int64_t{256} * 608 * 608 - 1) * 64);
  const std::uint32_t last = 4'000'000'000U;
  const Position at = position_of(last, 8, 608, 608);
  CHECK(((std::int64_t{at.image} * 608 + at.y) * 608 + at.x) * 8 + at.channel == last);
}

TEST_CASE("the GPU's boxes are detection.h's", "[cuda]") {
  const Shape shape{3 * (5 + 4), 6, 7};
  const DetectionHead head{{{1.0F, 2.0F}, {3.5F, 0.5F}, {0.2F, 4.0F}}, 4};
  std::vector<float> output(shape.elements());
  for (std::size_t i = 0; i < output.size(); ++i) output[i] = 8 * random_unit(11, i) - 4;
  for (const float threshold : {0.0F, 0.15F, 0.5F, 0.99F}) {
    const BoxGrid grid{shape.height, shape.width, 3, head.classes, threshold};
    std::vector<Detection> found;
    for (int index = 0; index < shape.height * shape.width * 3; ++index) {
      CandidateBox box{};
      const auto& [width, height] = head.anchors[index % 3];
      if (decode_box(grid, &output[index * 9], width, height, index, box)) found.push_back(box.box);
    }
    const auto expected = decode_boxes(output, shape, head, threshold);
    REQUIRE(found.size() == expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      CHECK(found[i].x == Approx(expected[i].x).epsilon(1e-6));
      CHECK(found[i].y == Approx(expected[i].y).epsilon(1e-6));
      CHECK(found[i].width == Approx(expected[i].width).epsilon(1e-6));
      CHECK(found[i].height == Approx(expected[i].height).epsilon(1e-6));
      CHECK(found[i].class_index == expected[i].class_index);
      CHECK(found[i].confidence == Approx(expected[i].confidence).epsilon(1e-6));
    }
  }
}

// -- weights --------------------------------------------------------------------------------------

TEST_CASE("numbers are rounded to nearest, ties to even", "[cuda]") {
  CHECK(bf16(1.0F) == 0x3F80);
  CHECK(bf16(1.0F + 0x1p-8F) == 0x3F80);    // a tie: down to even
  CHECK(bf16(1.0F + 0x1.8p-7F) == 0x3F82);  // a tie: up to even
  CHECK(bf16(1.0F + 0x1p-8F + 0x1p-20F) == 0x3F81);
  CHECK(bf16(-2.5F) == 0xC020);
  CHECK(bf16(std::numeric_limits<float>::max()) == 0x7F80);
  CHECK(fp16(1.0F) == 0x3C00);
  CHECK(fp16(1.0F + 0x1p-11F) == 0x3C00);
  CHECK(fp16(1.0F + 0x1.8p-10F) == 0x3C02);
  CHECK(fp16(65504.0F) == 0x7BFF);
  CHECK(fp16(65520.0F) == 0x7C00);
  CHECK(fp16(0x1p-24F) == 0x0001);
  const std::vector<float> numbers{1.25F, -3.0F};
  CHECK(rounded(numbers, Precision::tf32).size() == 8);
  CHECK(std::memcmp(rounded(numbers, Precision::fp32).data(), numbers.data(), 8) == 0);
}

TEST_CASE("filters are turned channels last, and padded with zeros", "[cuda]") {
  const FilterSizes sizes{5, 8, 3, 4, {2, 3}};
  std::vector<float> weights(5 * 3 * 2 * 3);
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<float>(i + 1);
  const auto turned = channels_last(weights, sizes);
  REQUIRE(turned.size() == 8 * 2 * 3 * 4);
  for (int f = 0; f < 8; ++f)
    for (int y = 0; y < 2; ++y)
      for (int x = 0; x < 3; ++x)
        for (int c = 0; c < 4; ++c) {
          const float expected = f < 5 && c < 3 ? weights[((f * 3 + c) * 2 + y) * 3 + x] : 0.0F;
          REQUIRE(turned[((f * 2 + y) * 3 + x) * 4 + c] == expected);
        }
}

// -- the cache of plans ---------------------------------------------------------------------------

TEST_CASE("choices outlive the program", "[cuda]") {
  const HostFolder folder;
  PlanCache first = cache_in(folder);
  CHECK_FALSE(first.find("a"));
  first.add("a", kChoice);
  first.save();
  CHECK(cache_in(folder).find("a") == kChoice);
  CHECK_FALSE(cache_in(folder).find("b"));
  CHECK_FALSE(PlanCache(folder.path, "NVIDIA H200", 92000).find("a"));
  CHECK_FALSE(PlanCache(folder.path, "NVIDIA A100", 91900).find("a"));
}

TEST_CASE("programs that share the cache keep each other's choices", "[cuda]") {
  const HostFolder folder;
  PlanCache first = cache_in(folder);
  PlanCache second = cache_in(folder);
  first.add("a", kChoice);
  first.save();
  second.add("b", kChoice);
  second.save();
  CHECK(cache_in(folder).find("a") == kChoice);
  CHECK(cache_in(folder).find("b") == kChoice);
}

TEST_CASE("a damaged cache is ignored, and made anew", "[cuda]") {
  const HostFolder folder;
  PlanCache good = cache_in(folder);
  good.add("a", kChoice);
  good.save();
  const std::string whole = contents(good.path());
  for (std::size_t length = 0; length + 2 < whole.size(); ++length) {
    write(good.path(), whole.substr(0, length));
    CHECK_FALSE(cache_in(folder).find("a"));
  }
  for (const char* damage :
       {"[]", "3", "{\"a\": 3}", "{\"a\": {}}", "{\"a\": {\"fusion\": \"bias\", \"engine\": 1}}",
        "{\"a\": {\"fusion\": \"all\", \"engine\": 1, \"knobs\": {}}}",
        "{\"a\": {\"fusion\": \"bias\", \"engine\": 1.5, \"knobs\": {}}}",
        "{\"a\": {\"fusion\": \"bias\", \"engine\": 1, \"knobs\": {\"x\": 1}}}",
        "{\"a\": {\"fusion\": \"bias\", \"engine\": 1, \"knobs\": {\"1\": \"x\"}}}", "\xff\xfe"}) {
    write(good.path(), damage);
    PlanCache damaged = cache_in(folder);
    CHECK_FALSE(damaged.find("a"));
    damaged.add("b", kChoice);
    damaged.save();
    CHECK(cache_in(folder).find("b") == kChoice);
  }
}

TEST_CASE("a cache that cannot be kept is no error", "[cuda]") {
  PlanCache nowhere("/proc/doetune", "NVIDIA H200", 91900);
  nowhere.add("a", kChoice);
  CHECK_NOTHROW(nowhere.save());
  PlanCache in_memory({}, "NVIDIA H200", 91900);
  in_memory.add("a", kChoice);
  CHECK_NOTHROW(in_memory.save());
  CHECK(in_memory.find("a") == kChoice);
}

// -- a machine without a GPU ----------------------------------------------------------------------

TEST_CASE("without a GPU the reason is reported, and the CPU is taken", "[cuda]") {
  std::string why;
  if (cudnn_devices(&why) > 0) {
    WARN("skipped: there is a GPU");
    return;
  }
  INFO(why);
  CHECK((why.find("no NVIDIA driver") != std::string::npos ||
         why.find("needs CUDA") != std::string::npos || why.find("GPU") != std::string::npos));
  CHECK_THROWS_AS(make_engine("cuda"), NoDevice);
  CHECK_THROWS_WITH(make_engine("cuda"), why);
  CHECK_THROWS_WITH(device_count("cuda"), why);
  CHECK(resolve_device("auto") == "cpu");
}
