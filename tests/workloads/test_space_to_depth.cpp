// A strided convolution and its form over blocks of pixels are the same, in whole numbers exactly.
#include "workloads/engines/onednn/space_to_depth.h"

#include <catch2/catch.hpp>
#include <functional>
#include <vector>

#include "base/random.h"
#include "workloads/engines/onednn/winograd_kernels.h"

using namespace doetune;
using namespace doetune::workloads;
using namespace doetune::workloads::onednn;

namespace {

std::vector<float> whole_numbers(std::int64_t count, std::uint64_t stream) {
  std::vector<float> all(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = static_cast<float>(random_bits(stream, i) % 17) - 8;
  return all;
}

/// Channel, row and column to a number; zero outside of the image.
using Pixel = std::function<float(int, int, int)>;

/// The convolution at one output, by its definition; weights: filters x channels x kernel.
float output(const Convolution& conv, int channels, const Pixel& x, const float* weights, int row,
             int column) {
  float sum = 0;
  for (int c = 0; c < channels; ++c)
    for (int i = 0; i < conv.kernel.height; ++i)
      for (int j = 0; j < conv.kernel.width; ++j)
        sum += *weights++ * x(c, row * conv.stride + i - conv.pad.height,
                              column * conv.stride + j - conv.pad.width);
  return sum;
}

void check(const Convolution& conv, const Shape& in) {
  constexpr int kImages = 2;
  const Shape out{conv.filters,
                  (in.height + 2 * conv.pad.height - conv.kernel.height) / conv.stride + 1,
                  (in.width + 2 * conv.pad.width - conv.kernel.width) / conv.stride + 1};
  const SpaceToDepth blocks(conv, in, out);
  const Shape blocked = blocks.in();
  const auto images = whole_numbers(kImages * in.elements(), 1);
  const auto weights = whole_numbers(
      std::int64_t{conv.filters} * in.channels * conv.kernel.height * conv.kernel.width, 2);
  const auto of_blocks = blocks.weights(weights.data());
  std::vector<float> transformed(static_cast<std::size_t>(kImages * blocked.elements()));
  blocks.transform(images.data(), kImages, transformed.data());
  REQUIRE(blocks.convolution().stride == 1);
  int different = 0;
  for (int image = 0; image < kImages; ++image) {
    const Pixel plain = [&](int c, int y, int x) {
      if (y < 0 || x < 0 || y >= in.height || x >= in.width) return 0.0F;
      return images[((image * in.height + y) * in.width + x) * in.channels + c];
    };
    const Pixel block = [&](int c, int y, int x) {
      const int plane = image * (blocked.channels / winograd::kLanes) + c / winograd::kLanes;
      return transformed[((plane * blocked.height + y) * blocked.width + x) * winograd::kLanes +
                         c % winograd::kLanes];
    };
    const std::size_t one = weights.size() / conv.filters;
    const std::size_t one_of_blocks = of_blocks.size() / conv.filters;
    for (int filter = 0; filter < conv.filters; ++filter)
      for (int row = 0; row < out.height; ++row)
        for (int column = 0; column < out.width; ++column)
          different += output(conv, in.channels, plain, &weights[filter * one], row, column) !=
                       output(blocks.convolution(), blocked.channels, block,
                              &of_blocks[filter * one_of_blocks], row, column);
  }
  CHECK(different == 0);
}

}  // namespace

TEST_CASE("a strided convolution is the same over blocks of pixels", "[space_to_depth]") {
  check({5, {11, 11}, 4, {2, 2}}, {3, 31, 38});  // AlexNet's: 3 x 3 over 48 channels
  check({3, {5, 4}, 2, {1, 2}}, {2, 9, 12});
  check({2, {3, 3}, 2, {0, 0}}, {4, 8, 7});
  check({2, {2, 3}, 4, {0, 1}}, {1, 4, 30});  // a kernel within a block
  check({2, {7, 7}, 4, {5, 6}}, {1, 2, 3});   // mostly padding
}
