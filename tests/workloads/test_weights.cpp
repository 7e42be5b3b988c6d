#include <catch2/catch.hpp>

#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <numeric>

#include "base/random.h"
#include "workloads/networks/weights.h"

using namespace doetune;
using namespace doetune::workloads;

namespace {

/// Two convolutions: 2 filters of 3 x 1 x 1 with batch normalisation, then 6 of 2 x 1 x 1 without.
Network two_weighted_layers() {
  NetworkBuilder net("two-layers", {3, 4, 4});
  net.conv(2, 1).linear_conv(6, 1);
  return net.build(DetectionHead{{{1.0F, 1.0F}}, 1});
}

std::filesystem::path temporary(const std::string& name) {
  return std::filesystem::temp_directory_path() /
         ("doetune-test-" + std::to_string(getpid()) + "-" + name);
}

/// Writes a Darknet file: version, images seen (32 or 64 bits), then the numbers 1, 2, 3, ... / 8.
std::filesystem::path darknet_file(int minor, int floats) {
  const auto path = temporary("weights");
  std::ofstream out(path, std::ios::binary);
  const auto put = [&](const auto& value) {
    out.write(reinterpret_cast<const char*>(&value), sizeof value);
  };
  put(std::int32_t{0});
  put(std::int32_t{minor});
  put(std::int32_t{0});
  if (minor >= 2)
    put(std::int64_t{1234});
  else
    put(std::int32_t{1234});
  for (int i = 1; i <= floats; ++i) put(static_cast<float>(i) / 8.0F);
  return path;
}

constexpr int kFloats = 2 * 4 + 2 * 3 + 6 + 6 * 2;  // two_weighted_layers in a Darknet file

}  // namespace

TEST_CASE("a Darknet file's numbers arrive folded in the right places", "[weights]") {
  const Network net = two_weighted_layers();
  std::vector<float> block(weight_count(net));
  for (const int minor : {1, 2}) {  // 16- and 20-byte header
    load_darknet_weights(net, darknet_file(minor, kFloats), block);
    // bias 1, 2; scale 3, 4; mean 5, 6; variance 7, 8; weights 9..14 (all / 8).
    const ConvolutionWeights first = convolution_weights(net, block, 0);
    const double factor = 3 / 8.0 / (std::sqrt(7 / 8.0) + 1e-6);
    CHECK(first.weights[0] == Approx(9 / 8.0 * factor));
    CHECK(first.weights[2] == Approx(11 / 8.0 * factor));
    CHECK(first.weights[3] == Approx(12 / 8.0 * 4 / 8.0 / (1.0 + 1e-6)));
    CHECK(first.bias[0] == Approx(1 / 8.0 - 5 / 8.0 * factor));
    // bias 15..20; weights 21..32.
    const ConvolutionWeights second = convolution_weights(net, block, 1);
    CHECK(second.bias[5] == 20 / 8.0F);
    CHECK(second.weights[0] == 21 / 8.0F);
    CHECK(second.weights[11] == 32 / 8.0F);
  }
}

TEST_CASE("a Darknet file of any other length is refused with both sizes", "[weights]") {
  const Network net = two_weighted_layers();
  std::vector<float> block(weight_count(net));
  for (int floats = 0; floats < kFloats; ++floats)
    CHECK_THROWS_AS(load_darknet_weights(net, darknet_file(2, floats), block), WeightsError);
  CHECK_THROWS_WITH(
      load_darknet_weights(net, darknet_file(2, kFloats - 1), block),
      Catch::Contains("144 bytes") && Catch::Contains("148") && Catch::Contains("truncated"));
  CHECK_THROWS_WITH(load_darknet_weights(net, darknet_file(2, kFloats + 1), block),
                    Catch::Contains("another network"));
  const auto torn = temporary("torn");
  std::ofstream(torn) << "short";
  CHECK_THROWS_WITH(load_darknet_weights(net, torn, block), Catch::Contains("truncated"));
  CHECK_THROWS_WITH(load_darknet_weights(net, temporary("none"), block),
                    Catch::Contains("cannot read"));
  CHECK_THROWS_WITH(load_darknet_weights(net, std::filesystem::temp_directory_path(), block),
                    Catch::Contains("directory"));
}

TEST_CASE("a Darknet file with a number that is not finite is refused", "[weights]") {
  const Network net = two_weighted_layers();
  std::vector<float> block(weight_count(net));
  const auto path = darknet_file(2, kFloats);
  for (const float value : {std::numeric_limits<float>::quiet_NaN(), HUGE_VALF}) {
    std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(-4, std::ios::end);  // the last weight
    file.write(reinterpret_cast<const char*>(&value), sizeof value);
    file.close();
    CHECK_THROWS_WITH(load_darknet_weights(net, path, block), Catch::Contains("not finite"));
  }
}

TEST_CASE("the published weight files fit the networks to the byte", "[weights]") {
  // darkflow prints these sizes for tiny-yolo-voc.weights and yolov2.weights (16-byte header).
  for (const auto& [name, bytes] :
       {std::pair{"tiny-yolov2", 63'471'556}, std::pair{"yolov2", 203'934'260}}) {
    const Network net = make_network(name, 416);
    const auto path = temporary(name);
    std::ofstream(path).close();
    std::filesystem::resize_file(path, bytes);  // zeros: version 0.0
    std::vector<float> block(weight_count(net));
    CHECK_NOTHROW(load_darknet_weights(net, path, block));
    std::filesystem::remove(path);
  }
}

TEST_CASE("random weights follow the seed and He's variance", "[weights]") {
  const Network net = make_network("tiny-yolov2", 32);
  std::vector<float> block(weight_count(net));
  std::vector<float> again(block.size());
  random_weights(net, 7, block);
  random_weights(net, 7, again);
  CHECK(block == again);
  random_weights(net, 8, again);
  CHECK(block != again);
  // Layer 12: 1024 filters of 512 x 3 x 3. Variance 2 / (1.01 fan-in), which 4.7 million values
  // estimate to within 1 %.
  const auto weights = convolution_weights(net, block, 12).weights;
  const double squares = std::inner_product(weights.begin(), weights.end(), weights.begin(), 0.0);
  CHECK(squares / static_cast<double>(weights.size()) ==
        Approx(2 / (1.01 * 512 * 9)).epsilon(0.01));
}
