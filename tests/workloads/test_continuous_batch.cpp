// Continuous batching with a decoder that only records its steps, and the cost of steps.
#include <atomic>
#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "base/clock.h"
#include "workloads/language/continuous_batch.h"
#include "workloads/language/decoder_weights.h"
#include "workloads/language/generation_load.h"
#include "workloads/language/llm_result.h"
#include "workloads/language/request_stream.h"

using namespace doetune;
using namespace doetune::workloads;

namespace {

/// The next token is the number of tokens read so far. Checks that no two sequences share a block,
/// that positions follow each other and that there are blocks for them.
class RecordingDecoder final : public Decoder {
 public:
  explicit RecordingDecoder(const BatchLimits& limits) : limits_(limits) {}

  void step(std::span<const Segment> segments, std::span<int> next) override {
    std::set<int> used;
    int prompt_tokens = 0;
    CHECK(std::ssize(segments) <= limits_.sequences);
    for (std::size_t i = 0; i < segments.size(); ++i) {
      const Segment& segment = segments[i];
      for (const int block : segment.blocks) {
        CHECK(used.insert(block).second);
        CHECK(block < limits_.blocks);
      }
      const int end = segment.position + static_cast<int>(segment.tokens.size());
      CHECK(end <= std::ssize(segment.blocks) * limits_.block_size);
      int& read = read_[segment.blocks[0]];
      if (segment.position == 0) read = 0;
      CHECK(segment.position == read);
      read = end;
      next[i] = segment.predict ? end : -1;
      if (segment.tokens.size() > 1) prompt_tokens += static_cast<int>(segment.tokens.size());
    }
    CHECK(prompt_tokens <= limits_.prefill_chunk);
    sizes.push_back(segments.size());
  }
  std::span<const float> logits(int) const override { return {}; }
  std::int64_t cache_bytes() const override { return 0; }

  std::vector<std::size_t> sizes;

 private:
  BatchLimits limits_;
  std::map<int, int> read_;  // tokens, by the first block
};

/// Predicts the same token always, in any thread.
class ConstantDecoder final : public Decoder {
 public:
  void step(std::span<const Segment> segments, std::span<int> next) override {
    for (std::size_t i = 0; i < segments.size(); ++i) next[i] = segments[i].predict ? 1 : -1;
  }
  std::span<const float> logits(int) const override { return {}; }
  std::int64_t cache_bytes() const override { return 0; }
};

/// A step after the first ones lasts until it is let go.
class StuckDecoder final : public Decoder {
 public:
  StuckDecoder(int steps, std::atomic<bool>& let_go) : left_(steps), let_go_(let_go) {}

  void step(std::span<const Segment> segments, std::span<int> next) override {
    if (left_-- <= 0) let_go_.wait(false);
    ConstantDecoder().step(segments, next);
  }
  std::span<const float> logits(int) const override { return {}; }
  std::int64_t cache_bytes() const override { return 0; }

 private:
  int left_;
  std::atomic<bool>& let_go_;
};

bool any_room(const GenerationRequest&) { return true; }

RequestKind kind_of(std::string_view prompt, std::string_view answer) {
  return {100, Lengths::parse("prompt", prompt), Lengths::parse("answer", answer), 3};
}

GenerationRequest request_of(int prompt, int answer) {
  return make_request(kind_of(std::to_string(prompt), std::to_string(answer)), 0);
}

}  // namespace

TEST_CASE("sequences enter and leave at every step, within the limits", "[decoder]") {
  const BatchLimits limits{4, 24, 16, 14};
  RecordingDecoder decoder(limits);
  ContinuousBatch batch(decoder, limits);
  std::map<std::int64_t, Generation> finished;
  std::int64_t next = 0, prompt_tokens = 0, read = 0;
  while (next < 200 || batch.size() > 0) {
    for (; next < 200; ++next) {
      GenerationRequest request = make_request(kind_of("1..90", "1..20"), next);
      if (!batch.has_room(request)) break;
      prompt_tokens += std::ssize(request.prompt);
      batch.add(std::move(request));
    }
    Step step = batch.step();
    read += step.size.prompt_tokens;
    for (Generation& each : step.finished) finished[each.request.number] = std::move(each);
  }
  CHECK(finished.size() == 200);
  CHECK(read == prompt_tokens);
  for (const auto& [number, each] : finished) {
    CHECK(std::ssize(each.answer) == each.request.answer_tokens);
    CHECK(each.answer.front() == std::ssize(each.request.prompt));
    CHECK(each.first_token_s <= each.last_token_s);
  }
}

TEST_CASE("sequences whose prompt is read do not wait for the prompts of others", "[decoder]") {
  const BatchLimits limits{2, 10, 16, 20};
  RecordingDecoder decoder(limits);
  ContinuousBatch batch(decoder, limits);
  batch.add(request_of(10, 8));
  batch.step();
  batch.add(request_of(35, 1));
  for (int i = 0; i < 4; ++i) {
    const Step step = batch.step();
    CHECK(step.size.tokens == (i < 3 ? 11 : 6));  // a token of the first, and 10 of 35
    CHECK(step.size.predictions == (i < 3 ? 1 : 2));
    CHECK(step.finished.size() == (i < 3 ? 0 : 1));
  }
}

TEST_CASE("a request waits until the cache has room for all its tokens", "[decoder]") {
  const BatchLimits limits{8, 64, 16, 4};
  RecordingDecoder decoder(limits);
  ContinuousBatch batch(decoder, limits);
  CHECK(batch.has_room(request_of(60, 5)));  // the last token is not kept
  CHECK_FALSE(batch.has_room(request_of(60, 6)));
  batch.add(request_of(30, 3));
  CHECK(batch.has_room(request_of(30, 3)));
  CHECK_FALSE(batch.has_room(request_of(30, 4)));
}

TEST_CASE("requests that end in the last step of the warm-up are not measured", "[decoder]") {
  const BatchLimits limits{3, 16, 16, 3};
  std::vector<std::unique_ptr<Decoder>> decoders;
  decoders.push_back(std::make_unique<ConstantDecoder>());
  RequestStream requests(kind_of("4", "5"), std::nullopt);  // three at a time end together
  GenerationLoad load(std::move(decoders), limits, requests,
                      [](const StepSize&) { return StepCost{}; }, {});
  measurement::StoppingRule warmup;
  CHECK(load.measure(warmup).values.size() % 3 == 0);
  measurement::StoppingRule rule;
  rule.min_count = 10;
  const auto measured = load.measure(rule).values;
  CHECK(measured.size() >= 10);
  CHECK(measured.size() % 3 == 0);
  for (std::size_t i = 0; i < measured.size(); ++i)
    CHECK((measured[i].elapsed_s > 0) == (i % 3 == 0));
}

TEST_CASE("a measurement ends at its deadline, whether or not a request is answered", "[decoder]") {
  std::atomic<bool> let_go = false;
  std::vector<std::unique_ptr<Decoder>> decoders;
  decoders.push_back(std::make_unique<StuckDecoder>(4, let_go));
  RequestStream requests(kind_of("4", "2"), std::nullopt);
  GenerationLoad load(std::move(decoders), {1, 16, 16, 1}, requests,
                      [](const StepSize&) { return StepCost{}; }, {});
  measurement::StoppingRule rule;
  rule.min_count = 10;
  rule.deadline_s = monotonic_s() + 2;
  const auto measured = load.measure(rule);
  CHECK(measured.values.size() == 2);
  CHECK(measured.stopped_by == measurement::StoppedBy::kTimeLimit);
  rule.may_be_empty = true;  // a further one
  CHECK(load.measure(rule).values.empty());
  let_go = true;
  let_go.notify_all();
}

TEST_CASE("time that is covered counts once", "[decoder]") {
  CoveredTime covered;
  CHECK(covered.add(1, 2) == 1);
  CHECK(covered.add(5, 6) == 1);
  CHECK(covered.add(0, 10) == 8);  // a long step, which ends last
  CHECK(covered.add(3, 10) == 0);
  CHECK(covered.add(9, 12) == 2);
}

TEST_CASE("an arrival that has no room here stays for other executors", "[decoder]") {
  RequestStream stream(kind_of("5", "3"), 1e6);
  std::optional<GenerationRequest> first;
  while (!first) first = stream.next(any_room);
  const auto none = [](const GenerationRequest&) { return false; };
  for (int i = 0; i < 5; ++i) CHECK_FALSE(stream.next(none));
  std::optional<GenerationRequest> second;
  while (!second) second = stream.next(any_room);
  CHECK(second->number == first->number + 1);
}

TEST_CASE("request n depends on the seed and n alone", "[decoder]") {
  const RequestKind kind = kind_of("5..50", "3");
  RequestStream stream(kind, std::nullopt);
  for (int n = 0; n < 5; ++n) {
    const auto next = stream.next(any_room);
    REQUIRE(next.has_value());
    CHECK(next->number == n);
    CHECK(next->prompt == make_request(kind, n).prompt);
    CHECK(next->prompt != make_request(kind, n + 1).prompt);
  }
}

TEST_CASE("with a rate, requests arrive in their order and none before its time", "[decoder]") {
  RequestStream stream(kind_of("5", "3"), 1e5);
  double before_s = 0;
  for (int n = 0; n < 50;) {
    const auto next = stream.next(any_room);
    if (!next) continue;
    CHECK(next->number == n++);
    CHECK(next->arrival_s > before_s);
    CHECK(next->arrival_s <= monotonic_s());
    before_s = next->arrival_s;
  }
}

TEST_CASE("a step moves the weights and the cache once", "[decoder]") {
  const DecoderShape& shape = named_shapes()[2].shape;  // embeddings are not tied
  const PeakRates rates{1e12, 1e10};
  StepSize one;
  one.add(99, 1, true);
  CHECK(one.cached == 100);
  CHECK(one.scores == 100);
  const double weights = static_cast<double>(weight_count(shape) - shape.vocabulary * shape.width -
                                             shape.width * (2 * shape.layers + 1));
  // A decoder is limited by the bandwidth: two operations for each weight of four bytes.
  const StepCost cost = cost_of(shape, one, Precision::fp32, CacheType::fp32, rates);
  const double cache = 100.0 * 22 * 2 * 4 * 64 * 4;
  CHECK(cost.bytes == Approx(4 * weights + cache));
  CHECK(cost.roofline_s == Approx(cost.bytes / 1e10));
  for (const CacheType type : {CacheType::int8, CacheType::fp8})
    CHECK(cost_of(shape, one, Precision::bf16, type, {}).bytes ==
          Approx(2 * weights + cache / 4 * (64 + 4) / 64));
  CHECK(cost_of(shape, one, Precision::fp32, CacheType::fp32, {}).roofline_s == 0);

  // Prompts are limited by the rate: 1000 tokens use each weight two thousand times.
  StepSize prompt;
  prompt.add(0, 1000, false);
  CHECK(prompt.scores == 500'500);
  const double products = 2000 * (weights - shape.vocabulary * shape.width);
  const double attention = 4.0 * 22 * 2048 * 500'500;
  CHECK(cost_of(shape, prompt, Precision::fp32, CacheType::fp32, rates).roofline_s ==
        Approx((products + attention) / 1e12));
}

TEST_CASE("responses are sums over requests and steps", "[decoder]") {
  GenerationMeasurement measured;
  for (int i = 0; i < 100; ++i) {
    Generated one;
    one.elapsed_s = 0.1;
    one.latency_s = 2;
    one.first_token_s = 0.5;
    one.inter_token_s = 0.05;
    one.output_tokens = 31;
    one.prompt_tokens = 69;
    one.steps = {0.1, 0.05, 0.05, 2e8};
    measured.values.push_back(one);
  }
  measured.window = {0, 10};
  measured.stopped_by = measurement::StoppedBy::kMinTime;
  const Result result = llm_result({measured}, {std::int64_t{1} << 30, 1 << 29}, true, 1);
  const auto& responses = result.responses;
  CHECK(responses.at("output_tokens_per_second") == Approx(310));
  CHECK(responses.at("tokens_per_second") == Approx(1000));
  CHECK(responses.at("time_to_first_token_p90") == Approx(0.5));
  CHECK(responses.at("inter_token_latency") == Approx(0.05));
  CHECK(responses.at("decode_bandwidth") == Approx(4));
  CHECK(responses.at("roofline_fraction") == Approx(0.5));
  CHECK(responses.at("weight_memory") == Approx(1));
  CHECK(responses.at("cache_memory") == Approx(0.5));
  for (const Response& response : llm_responses())  // none is missing without a reason
    CHECK((responses.contains(response.name) || result.notes.contains(response.name)));
}
