// The engine of language models on the device DOETUNE_TEST_DEVICE against the reference in double
// precision (reference_decoder.h).
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <span>
#include <string_view>

#include "base/random.h"
#include "decoder_cases.h"
#include "gpu_or_skip.h"
#include "tests/workloads/reference_decoder.h"
#include "workloads/communication/bfloat16.h"
#include "workloads/language/continuous_batch.h"
#include "workloads/language/decoder_weights.h"
#include "workloads/language/request_stream.h"

using namespace doetune;
using namespace doetune::workloads;

namespace {

constexpr std::string_view kDevice = DOETUNE_TEST_DEVICE;
/// A GPU multiplies weights of bf16 by activations of bf16.
constexpr bool kRoundsActivations = kDevice == "cuda";

#ifdef DOETUNE_TEST_BRIEF
constexpr bool kIsBrief = true;  // every thread of a kernel takes its time
#else
constexpr bool kIsBrief = false;
#endif

bool no_device() { return kDevice == "cuda" && skipped_without(kDevice); }

/// A key for each query; heads of 48 elements.
constexpr DecoderShape kPlain{3, 96, 2, 2, 64, 257, 96, 5e5, true};
/// Eight queries for each key.
constexpr DecoderShape kShared{1, 128, 8, 1, 32, 67, 256, 1e5, true};
/// Heads of 128 elements.
constexpr DecoderShape kWide{1, 256, 2, 1, 32, 67, 256, 1e5, true};

struct Setting {
  CacheType cache = CacheType::fp32;
  int block_size = 16;
  int chunk = 256;
  int sequences = 3;
  int threads = 2;
  Precision precision = Precision::fp32;
  bool last_alone = false;  ///< whether the last token of a prompt is read by itself
};

RequestKind requests_for(const DecoderShape& shape) {
  return {shape.vocabulary, Lengths::parse("prompt", "1..40"), Lengths::parse("answer", "1..12"),
          kSeed};
}

/// The answers to requests 0 .. count - 1.
std::vector<std::vector<int>> answers(const DecoderShape& shape, const Setting& setting,
                                      int count) {
  const auto model = make_language_model(kDevice, shape, kSeed, setting.precision, setting.threads);
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

/// Logits after each prompt, all of which are read in one step, or their last tokens in a second
/// one; blocks are in no order.
std::vector<std::vector<float>> logits_of(const DecoderShape& shape, const Setting& setting,
                                          const std::vector<std::vector<int>>& prompts) {
  const auto model = make_language_model(kDevice, shape, kSeed, setting.precision, setting.threads);
  const int pool = 24 + shape.positions / setting.block_size;
  int most = 0;
  for (const auto& prompt : prompts) most += static_cast<int>(prompt.size());
  const auto decoder = model->decoder({setting.cache, setting.block_size, pool, most,
                                       static_cast<int>(prompts.size()), setting.threads});
  RandomStream random(kSeed, 1);
  const std::vector<int> order = random_permutation(pool, random);
  std::vector<Segment> segments;
  std::vector<Segment> last;
  std::size_t used = 0;
  for (const auto& prompt : prompts) {
    const auto blocks =
        static_cast<std::size_t>(blocks_for(static_cast<int>(prompt.size()), setting.block_size));
    const auto its_blocks = std::span(order).subspan(used, blocks);
    const std::span<const int> tokens(prompt);
    if (setting.last_alone) {
      segments.push_back({tokens.first(tokens.size() - 1), 0, its_blocks, false});
      last.push_back({tokens.last(1), static_cast<int>(tokens.size()) - 1, its_blocks});
    } else {
      segments.push_back({tokens, 0, its_blocks});
    }
    used += blocks;
  }
  std::vector<int> next(prompts.size());
  decoder->step(segments, next);
  if (setting.last_alone) {
    CHECK(std::ranges::all_of(next, [](int each) { return each == -1; }));
    decoder->step(last, next);
  }
  std::vector<std::vector<float>> all;
  for (int i = 0; i < std::ssize(prompts); ++i) {
    const auto logits = decoder->logits(i);
    all.emplace_back(logits.begin(), logits.end());
    CHECK(next[static_cast<std::size_t>(i)] == std::ranges::max_element(logits) - logits.begin());
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

std::vector<float> rounded(std::vector<float> weights) {
  for (float& each : weights) each = from_bfloat16(to_bfloat16(each));
  return weights;
}

}  // namespace

TEST_CASE("logits are those of the reference, by few rows and by many", "[decoder]") {
  if (no_device()) return;
  for (const DecoderShape& shape : {kGrouped, kPlain}) {
    const auto weights = random_weights(shape, kSeed);
    CHECK(largest_difference(shape, {}, weights, {5}) < 5e-6);
    CHECK(largest_difference(shape, {.block_size = 32}, weights, {1, 16, 33, 17, 90}) < 5e-6);
    CHECK(largest_difference(shape, {.threads = 1}, weights, {16}) < 5e-6);
  }
}

TEST_CASE("logits after a long sequence are those of the reference", "[decoder]") {
  if (no_device()) return;
  for (const DecoderShape& shape : {kShared, kWide}) {
    const auto weights = random_weights(shape, kSeed);
    for (const CacheType cache :
         {CacheType::fp32, CacheType::bf16, CacheType::int8, CacheType::fp8}) {
      const Setting setting{.cache = cache, .last_alone = true};
      CHECK(largest_difference(shape, setting, weights, {150, 17}, cache) < 5e-4);
    }
  }
}

TEST_CASE("in bf16, neighbouring tokens and heads that share keys are read at once", "[decoder]") {
  if (no_device()) return;
  // On a GPU by tensor cores: heads of 64 and 128 elements, one to three queries for each key.
  for (const DecoderShape& shape : {DecoderShape{1, 192, 3, 1, 32, 67, 256, 1e5, true},
                                    DecoderShape{1, 256, 2, 2, 32, 67, 256, 1e5, true}}) {
    const auto weights = rounded(random_weights(shape, kSeed));
    for (const CacheType cache : {CacheType::bf16, CacheType::int8, CacheType::fp8})
      for (const bool alone : {false, true}) {
        const Setting setting{
            .cache = cache, .block_size = 48, .precision = Precision::bf16, .last_alone = alone};
        // Rounded activations change some of the rounded keys, by more where those have fewer bits.
        CHECK(largest_difference(shape, setting, weights, {75, 1 + alone, 18}, cache) <
              (cache == CacheType::bf16 ? 1e-2 : 3e-2));
      }
  }
}

TEST_CASE("bf16 weights are the rounded weights", "[decoder]") {
  if (no_device()) return;
  const auto weights = random_weights(kGrouped, kSeed);
  const Setting bf16{.precision = Precision::bf16};
  for (const auto& lengths : {std::vector{5}, std::vector{40, 33}}) {
    CHECK(largest_difference(kGrouped, bf16, rounded(weights), lengths) <
          (kRoundsActivations ? 1e-2 : 5e-6));
    CHECK(largest_difference(kGrouped, bf16, weights, lengths) > 1e-4);
  }
}

TEST_CASE("a cache of fewer bits gives what its rounded keys and values give", "[decoder]") {
  if (no_device()) return;
  // A number that lies between two of the cache's may be rounded to the other one than in double
  // precision, which changes the logits by more than sums in fp32 do.
  const auto weights = random_weights(kGrouped, kSeed);
  for (const CacheType cache : {CacheType::bf16, CacheType::int8, CacheType::fp8}) {
    const Setting setting{.cache = cache};
    CHECK(largest_difference(kGrouped, setting, weights, {30, 64}, cache) < 2e-4);
    CHECK(largest_difference(kGrouped, setting, weights, {30, 64}) > 1e-3);
  }
}

TEST_CASE("answers are those of the reference, token for token, however they are batched",
          "[decoder]") {
  if (no_device()) return;
  constexpr int kRequests = kIsBrief ? 4 : 7;
  for (const DecoderShape& shape : {kGrouped, kPlain}) {
    const auto expected = reference_answers(shape, random_weights(shape, kSeed), kRequests);
    if (!kIsBrief) {
      CHECK(answers(shape, {}, kRequests) == expected);
      CHECK(answers(shape, {.sequences = 1}, kRequests) == expected);
    }
    CHECK(answers(shape, {.chunk = 7, .sequences = 5, .threads = 3}, kRequests) == expected);
    CHECK(answers(shape, {.block_size = 48, .chunk = 1, .sequences = 7}, kRequests) == expected);
  }
}
