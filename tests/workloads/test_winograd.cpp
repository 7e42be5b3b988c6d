#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "base/random.h"
#include "evaluated_network.h"
#include "workloads/engines/onednn/onednn_calls.h"
#include "workloads/engines/onednn/winograd_convolution.h"

using namespace doetune;
using namespace doetune::workloads;
using namespace doetune::workloads::onednn;

namespace {

constexpr float kSlope = 0.1F;
constexpr int kBlock = 8;

bool has_avx2() {
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return true;
  WARN("the Winograd kernels are not tested: this CPU lacks AVX2 or fused multiply-add");
  return false;
}

/// Where a number is in images stored in blocks of 8 channels.
std::size_t at(const Shape& shape, int image, int channel, int row, int column) {
  const int plane = image * (shape.channels / kBlock) + channel / kBlock;
  return ((static_cast<std::size_t>(plane) * shape.height + row) * shape.width + column) * kBlock +
         channel % kBlock;
}

/// A layer with uniform random numbers in -1 .. 1.
struct Case {
  WinogradShape shape;
  std::vector<float> x, weights, bias, residual;

  explicit Case(const WinogradShape& of)
      : shape(of),
        x(numbers(of.images * of.in.elements(), 1)),
        weights(numbers(std::int64_t{of.in.channels} * of.filters * 9, 2)),
        bias(numbers(of.filters, 3)),
        residual(numbers(of.images * of.out().elements(), 4)) {}

  static std::vector<float> numbers(std::int64_t count, std::uint64_t stream) {
    std::vector<float> all(count);
    for (std::int64_t i = 0; i < count; ++i) all[i] = 2 * random_unit(test_seed() + stream, i) - 1;
    return all;
  }

  std::vector<float> transformed(bool accumulates, int threads) const {
    const OnThreads limit(threads);
    const WinogradConvolution winograd(shape, threads);
    std::vector<float> packed(winograd_weights(shape.in.channels, shape.filters));
    transform_weights(weights.data(), shape.in.channels, shape.filters, packed.data());
    std::vector<float> scratch(winograd.scratch());
    std::vector<float> y = residual;
    winograd.run({x.data(), packed.data(), bias.data(), y.data(), scratch.data(), accumulates,
                  accumulates ? 1.0F : kSlope});
    return y;
  }

  /// The convolution at one pixel of one filter, by its definition.
  double direct(int image, int filter, int row, int column) const {
    double sum = bias[filter];
    for (int channel = 0; channel < shape.in.channels; ++channel)
      for (int i = 0; i < 9; ++i) {
        const int y = row + i / 3 - shape.pad.height;
        const int x_ = column + i % 3 - shape.pad.width;
        if (y < 0 || x_ < 0 || y >= shape.in.height || x_ >= shape.in.width) continue;
        sum += double{x[at(shape.in, image, channel, y, x_)]} *
               weights[(static_cast<std::size_t>(filter) * shape.in.channels + channel) * 9 + i];
      }
    return sum;
  }

  /// The largest difference, relative to the largest output.
  double difference(bool accumulates, int threads) const {
    const std::vector<float> y = transformed(accumulates, threads);
    const Shape out = shape.out();
    double largest = 0, difference = 0;
    for (int image = 0; image < shape.images; ++image)
      for (int filter = 0; filter < shape.filters; ++filter)
        for (int row = 0; row < out.height; ++row)
          for (int column = 0; column < out.width; ++column) {
            const std::size_t index = at(out, image, filter, row, column);
            double expected = direct(image, filter, row, column);
            if (accumulates)
              expected += residual[index];
            else if (expected < 0)
              expected *= kSlope;
            largest = std::max(largest, std::abs(expected));
            difference = std::max(difference, std::abs(expected - y[index]));
          }
    return difference / largest;
  }
};

std::string described(const WinogradShape& shape) {
  return std::to_string(shape.images) + " x " + std::to_string(shape.in.channels) + " x " +
         std::to_string(shape.in.height) + " x " + std::to_string(shape.in.width) + " to " +
         std::to_string(shape.filters) + ", padding " + std::to_string(shape.pad.height) + " and " +
         std::to_string(shape.pad.width) +
         "; repeat with DOETUNE_TEST_SEED=" + std::to_string(test_seed());
}

// fp32 has 24 significant bits; the transforms' factors of up to 8 cost about three of them.
constexpr double kTolerance = 5e-6;

}  // namespace

TEST_CASE("a Winograd convolution agrees with the definition, of any size", "[winograd]") {
  if (!has_avx2()) return;
  std::vector<WinogradShape> shapes{
      {1, {8, 1, 1}, 8, {1, 1}},       // smaller than a tile
      {1, {8, 3, 3}, 8, {0, 0}},       // one output
      {2, {16, 6, 6}, 24, {0, 0}},     // one whole tile, half a panel of filters
      {1, {264, 9, 5}, 16, {1, 1}},    // more channels than are multiplied at once
      {3, {16, 70, 45}, 40, {1, 0}}};  // more tiles than are transformed at once
  RandomStream random(test_seed(), 5);
  const auto up_to = [&](int bound) { return static_cast<int>(random.below(bound)); };
  for (int i = 0; i < 12; ++i)
    shapes.push_back({1 + up_to(3),
                      {kBlock * (1 + up_to(6)), 3 + up_to(20), 3 + up_to(20)},
                      kBlock * (1 + up_to(6)),
                      {up_to(2), up_to(2)}});
  for (const WinogradShape& shape : shapes) {
    const Case layer(shape);
    for (const bool accumulates : {false, true}) {
      INFO(described(shape) << ", accumulates: " << accumulates);
      CHECK(layer.difference(accumulates, 2) < kTolerance);
    }
  }
}

TEST_CASE("a Winograd convolution has the same bits with any number of threads", "[winograd]") {
  if (!has_avx2()) return;
  for (const WinogradShape& shape :
       {WinogradShape{2, {24, 61, 83}, 40, {1, 1}}, WinogradShape{1, {272, 13, 13}, 48, {0, 1}}}) {
    const Case layer(shape);
    INFO(described(shape));
    const std::vector<float> one = layer.transformed(true, 1);
    CHECK(layer.transformed(true, 2) == one);
    CHECK(layer.transformed(true, 3) == one);
  }
}
