// Decoders against the reference in double precision (reference_decoder.h).
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <span>

#include "base/random.h"
#include "tests/workloads/reference_decoder.h"
#include "workloads/communication/bfloat16.h"
#include "workloads/language/continuous_batch.h"
#include "workloads/language/cpu/cpu_weights.h"
#include "workloads/language/cpu/kernels.h"
#include "workloads/language/decoder_weights.h"
#include "workloads/language/request_stream.h"

using namespace doetune;
using namespace doetune::workloads;

namespace {

constexpr std::uint64_t kSeed = 7;

/// Three queries for each key; heads of 16 elements.
constexpr DecoderShape kGrouped{2, 96, 6, 2, 160, 301, 96, 1e4, false};
/// A key for each query; heads of 48 elements.
constexpr DecoderShape kPlain{3, 96, 2, 2, 64, 257, 96, 5e5, true};

struct Setting {
  CacheType cache = CacheType::fp32;
  int block_size = 16;
  int chunk = 256;
  int sequences = 3;
  int threads = 2;
  Precision precision = Precision::fp32;
};

RequestKind requests_for(const DecoderShape& shape) {
  return {shape.vocabulary, Lengths::parse("prompt", "1..40"), Lengths::parse("answer", "1..12"),
          kSeed};
}

/// The answers to requests 0 .. count - 1.
std::vector<std::vector<int>> answers(const DecoderShape& shape, const Setting& setting,
                                      int count) {
  const auto model = make_language_model("cpu", shape, kSeed, setting.precision, setting.threads);
  const BatchLimits limits{setting.sequences, setting.chunk, setting.block_size,
                           setting.sequences * blocks_for(52, setting.block_size)};
  const auto decoder =
      model->decoder({setting.cache, setting.block_size, limits.blocks,
                      limits.sequences + limits.prefill_chunk, limits.sequences, setting.threads});
  ContinuousBatch batch(*decoder, limits);
  std::vector<std::vector<int>> all(static_cast<std::size_t>(count));
  for (int next = 0; next < count || batch.size() > 0;) {
    while (next < count && batch.size() < limits.sequences)
      batch.add(make_request(requests_for(shape), next++));
    for (Generation& each : batch.step().finished)
      all[static_cast<std::size_t>(each.request.number)] = std::move(each.answer);
  }
  return all;
}

std::vector<std::vector<int>> reference_answers(const DecoderShape& shape,
                                                std::span<const float> weights, int count) {
  std::vector<std::vector<int>> all;
  for (int number = 0; number < count; ++number) {
    const GenerationRequest request = make_request(requests_for(shape), number);
    all.push_back(reference_answer(shape, weights, request.prompt, request.answer_tokens));
  }
  return all;
}

/// Logits after each prompt of `lengths`, read in one step; blocks are in no order.
std::vector<std::vector<float>> logits_of(const DecoderShape& shape, const Setting& setting,
                                          const std::vector<std::vector<int>>& prompts) {
  const auto model = make_language_model("cpu", shape, kSeed, setting.precision, setting.threads);
  const auto decoder =
      model->decoder({setting.cache, setting.block_size, 24, 256, 8, setting.threads});
  RandomStream random(kSeed, 1);
  const std::vector<int> order = random_permutation(24, random);
  std::vector<Segment> segments;
  std::size_t used = 0;
  for (const auto& prompt : prompts) {
    const auto blocks =
        static_cast<std::size_t>(blocks_for(static_cast<int>(prompt.size()), setting.block_size));
    segments.push_back({prompt, 0, std::span(order).subspan(used, blocks)});
    used += blocks;
  }
  std::vector<int> next(prompts.size());
  decoder->step(segments, next);
  std::vector<std::vector<float>> all;
  for (int i = 0; i < std::ssize(prompts); ++i) {
    const auto logits = decoder->logits(i);
    all.emplace_back(logits.begin(), logits.end());
  }
  return all;
}

std::vector<std::vector<int>> prompts_of(const DecoderShape& shape,
                                         const std::vector<int>& lengths) {
  std::vector<std::vector<int>> prompts;
  RandomStream random(kSeed, 2);
  for (const int length : lengths) {
    prompts.emplace_back();
    for (int i = 0; i < length; ++i)
      prompts.back().push_back(
          static_cast<int>(random.below(static_cast<std::uint64_t>(shape.vocabulary))));
  }
  return prompts;
}

/// The norm of the difference relative to that of the expected logits.
double difference(const std::vector<float>& actual, const std::vector<double>& expected) {
  double squares = 0, size = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    squares += std::pow(static_cast<double>(actual[i]) - expected[i], 2);
    size += std::pow(expected[i], 2);
  }
  return std::sqrt(squares / size);
}

double largest_difference(const DecoderShape& shape, const Setting& setting,
                          std::span<const float> weights, const std::vector<int>& lengths,
                          CacheType reference_cache = CacheType::fp32) {
  const auto prompts = prompts_of(shape, lengths);
  const auto logits = logits_of(shape, setting, prompts);
  double largest = 0;
  for (std::size_t i = 0; i < prompts.size(); ++i)
    largest = std::max(largest, difference(logits[i], reference_logits(shape, weights, prompts[i],
                                                                       reference_cache)));
  return largest;
}

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

std::vector<float> rounded(std::vector<float> weights) {
  for (float& each : weights) each = from_bfloat16(to_bfloat16(each));
  return weights;
}

}  // namespace

TEST_CASE("logits are those of the reference, by few rows and by many", "[decoder]") {
  for (const DecoderShape& shape : {kGrouped, kPlain}) {
    const auto weights = random_weights(shape, kSeed);
    CHECK(largest_difference(shape, {}, weights, {5}) < 5e-6);
    CHECK(largest_difference(shape, {.block_size = 32}, weights, {1, 16, 33, 17, 90}) < 5e-6);
    CHECK(largest_difference(shape, {.threads = 1}, weights, {16}) < 5e-6);
  }
}

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

TEST_CASE("bf16 weights are the rounded weights", "[decoder]") {
  const auto weights = random_weights(kGrouped, kSeed);
  const Setting bf16{.precision = Precision::bf16};
  for (const auto& lengths : {std::vector{5}, std::vector{40, 33}}) {
    CHECK(largest_difference(kGrouped, bf16, rounded(weights), lengths) < 5e-6);
    CHECK(largest_difference(kGrouped, bf16, weights, lengths) > 1e-4);
  }
}

TEST_CASE("a cache of fewer bits gives what its rounded keys and values give", "[decoder]") {
  // A number that lies between two of the cache's may be rounded to the other one than in double
  // precision, which changes the logits by more than sums in fp32 do.
  const auto weights = random_weights(kGrouped, kSeed);
  for (const CacheType cache : {CacheType::bf16, CacheType::int8}) {
    const Setting setting{.cache = cache};
    CHECK(largest_difference(kGrouped, setting, weights, {30, 64}, cache) < 2e-4);
    CHECK(largest_difference(kGrouped, setting, weights, {30, 64}) > 1e-3);
  }
}

TEST_CASE("answers are those of the reference, token for token, however they are batched",
          "[decoder]") {
  constexpr int kRequests = 7;
  for (const DecoderShape& shape : {kGrouped, kPlain}) {
    const auto expected = reference_answers(shape, random_weights(shape, kSeed), kRequests);
    CHECK(answers(shape, {}, kRequests) == expected);
    CHECK(answers(shape, {.sequences = 1}, kRequests) == expected);
    CHECK(answers(shape, {.chunk = 7, .sequences = 5, .threads = 3}, kRequests) == expected);
    CHECK(answers(shape, {.block_size = 48, .chunk = 1, .sequences = 7}, kRequests) == expected);
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
