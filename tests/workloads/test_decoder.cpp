// Weights and shapes of decoders, and what only the CPU's engine has. What engines have in common:
// test_language_engines.cpp.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>

#include "base/random.h"
#include "decoder_cases.h"
#include "tests/workloads/reference_decoder.h"
#include "workloads/language/cpu/cpu_weights.h"
#include "workloads/language/cpu/float8.h"
#include "workloads/language/cpu/kernels.h"
#include "workloads/language/cpu/vectors.h"
#include "workloads/language/decoder_weights.h"

using namespace doetune;
using namespace doetune::workloads;

namespace {

/// The tensors `first` to `last` of a layer times each row of x, in double precision.
std::vector<double> product_of(const DecoderShape& shape, std::span<const float> weights,
                               TensorKind first, TensorKind last, int layer,
                               const std::vector<float>& x, int rows) {
  std::vector<double> y;
  for (int row = 0; row < rows; ++row)
    for (const Tensor& tensor : tensors_of(shape)) {
      if (tensor.layer != layer || tensor.kind < first || tensor.kind > last) continue;
      const float* number = weights.data() + tensor.offset;
      for (std::int64_t r = 0; r < tensor.rows; ++r) {
        y.push_back(0);
        for (std::int64_t c = 0; c < tensor.columns; ++c)
          y.back() += static_cast<double>(*number++) *
                      static_cast<double>(x[static_cast<std::size_t>(row * tensor.columns + c)]);
      }
    }
  return y;
}

/// The 256 numbers of E4M3, by their codes, as vectors of so many lanes read them.
template <int kLanes>
std::vector<float> read_float8() {
  std::vector<std::uint8_t> codes(256);
  std::iota(codes.begin(), codes.end(), std::uint8_t{0});
  std::vector<float> numbers(256);
  for (std::size_t i = 0; i < 256; i += kLanes) {
    language::Floats<kLanes> vector;
    language::load<kLanes>(&codes[i], vector);
    language::store<kLanes>(vector, &numbers[i]);
  }
  return numbers;
}

}  // namespace

TEST_CASE("products are with the matrices of one layer, by few rows and by many", "[decoder]") {
  using enum TensorKind;
  constexpr int kMany = 40;
  const auto block = random_weights(kGrouped, kSeed);
  const language::CpuWeights weights(kGrouped, kSeed, Precision::fp32, 2);
  std::vector<float> x;
  RandomStream random(kSeed, 3);
  for (int i = 0; i < kMany * kGrouped.ffn_width; ++i)
    x.push_back(static_cast<float>(random.uniform() - 0.5));
  for (const auto& [first, last] : {std::pair(query, value), std::pair(output, output),
                                    std::pair(gate, up), std::pair(down, down)})
    for (int layer = 0; layer < kGrouped.layers; ++layer)
      for (const int rows : {1, 7, kMany}) {
        const auto expected = product_of(kGrouped, block, first, last, layer, x, rows);
        const language::Matrix matrix = weights.matrix(first, last, layer);
        REQUIRE(matrix.rows * rows == std::ssize(expected));
        std::vector<float> y(expected.size());
        const language::Rows to{y.data(), rows, matrix.rows};
        weights.multiply(matrix, x.data(), to, false, 2);
        CHECK(difference(y, expected) < 1e-6);
      }
}

TEST_CASE("the gate is x / (1 + exp(-x)), also far from zero", "[decoder]") {
  std::vector<float> x, up, out(4096);
  for (int i = 0; i < 4096; ++i) {
    x.push_back(static_cast<float>(i - 2048) / 16);
    up.push_back(i % 2 == 0 ? 1.0F : -0.5F);
  }
  language::kernels().gate(x.data(), up.data(), out.data(), 4096);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double z = x[i];
    const double expected = z / (1 + std::exp(-z)) * static_cast<double>(up[i]);
    INFO(z);
    CHECK(static_cast<double>(out[i]) == Approx(expected).epsilon(1e-6).margin(1e-30));
  }
}

TEST_CASE("every code of E4M3 is read as its number", "[decoder]") {
  const auto expected = float8_numbers();
  REQUIRE(expected.size() == 127);
  CHECK(expected[1] == 0x1p-9);
  CHECK(expected[8] == 0x1p-6);
  CHECK(expected[126] == 448);
  for (const auto& numbers : {read_float8<4>(), read_float8<8>(), read_float8<16>()}) {
    for (std::size_t code = 0; code < 127; ++code) {
      CHECK(static_cast<double>(numbers[code]) == expected[code]);
      CHECK(static_cast<double>(numbers[code + 128]) == -expected[code]);
    }
    CHECK(std::signbit(numbers[128]));
    CHECK(std::isnan(numbers[127]));
    CHECK(std::isnan(numbers[255]));
  }
}

TEST_CASE("a float becomes the nearest number of E4M3, of two the even one", "[decoder]") {
  using language::to_float8;
  const auto numbers = float8_numbers();
  for (std::size_t code = 0; code < 127; ++code) {
    const auto number = static_cast<float>(numbers[code]);
    INFO(number);
    CHECK(to_float8(number) == code);
    CHECK(to_float8(-number) == code + 128);
    if (code == 126) break;
    const float halfway = (number + static_cast<float>(numbers[code + 1])) / 2;
    CHECK(to_float8(std::nextafter(halfway, 0.0F)) == code);
    CHECK(to_float8(halfway) == code + code % 2);
    CHECK(to_float8(std::nextafter(halfway, 1000.0F)) == code + 1);
  }
  CHECK(to_float8(std::numeric_limits<float>::denorm_min()) == 0);
  for (const float large : {449.0F, 480.0F, 1e30F, std::numeric_limits<float>::infinity()}) {
    CHECK(to_float8(large) == 126);
    CHECK(to_float8(-large) == 254);
  }
  CHECK(to_float8(std::numeric_limits<float>::quiet_NaN()) == 127);
}

TEST_CASE("weights depend on the seed and their place alone", "[decoder]") {
  const auto weights = random_weights(kGrouped, kSeed);
  CHECK(weights == random_weights(kGrouped, kSeed));
  CHECK(weights != random_weights(kGrouped, kSeed + 1));
  DecoderShape more = kGrouped;
  more.vocabulary += 10;
  more.layers += 1;
  const auto longer = random_weights(more, kSeed);
  const auto tensors = tensors_of(more);
  for (const Tensor& tensor : tensors_of(kGrouped)) {
    const auto same = std::ranges::find_if(tensors, [&](const Tensor& each) {
      return each.kind == tensor.kind && each.layer == tensor.layer;
    });
    CHECK(std::equal(weights.begin() + tensor.offset,
                     weights.begin() + tensor.offset + tensor.count(),
                     longer.begin() + same->offset));
  }
}

TEST_CASE("the published shapes have the published numbers of parameters", "[decoder]") {
  // Of the checkpoints stories15M, SmolLM2-135M, TinyLlama-1.1B and Meta-Llama-3-8B.
  const std::vector<std::pair<std::string_view, std::int64_t>> published{
      {"stories-15m", 15'191'712},
      {"smollm2-135m", 134'515'008},
      {"tinyllama-1.1b", 1'100'048'384},
      {"llama-3-8b", 8'030'261'248}};
  REQUIRE(named_shapes().size() == published.size());
  for (std::size_t i = 0; i < published.size(); ++i) {
    CHECK(named_shapes()[i].name == published[i].first);
    CHECK(weight_count(named_shapes()[i].shape) == published[i].second);
  }
}

TEST_CASE("shapes whose numbers do not fit each other are refused", "[decoder]") {
  DecoderShape shape = kGrouped;
  shape.kv_heads = 4;
  CHECK_THROWS_WITH(check_shape(shape),
                    Catch::Contains("heads = 6 must be a multiple of kv_heads"));
  shape = kGrouped;
  shape.width = 90;
  CHECK_THROWS_WITH(check_shape(shape), Catch::Contains("multiple of 16"));
  shape = kGrouped;
  shape.ffn_width = 100;
  CHECK_THROWS_WITH(check_shape(shape), Catch::Contains("ffn_width = 100"));
}
