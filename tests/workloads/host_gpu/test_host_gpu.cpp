// The GPU engine on a GPU that consists of the host (host_gpu.h): what happens between executors,
// when memory ends, and what is prepared.
#include <catch2/catch.hpp>

#include <cstdlib>
#include <future>
#include <numeric>

#include "host_gpu.h"
#include "workloads/engines/cudnn/cudnn_engine.h"
#include "workloads/engines/cudnn/cudnn_network.h"
#include "workloads/engines/training.h"
#include "workloads/language/continuous_batch.h"
#include "workloads/language/cuda/gpu_model.h"
#include "workloads/language/request_stream.h"
#include "workloads/networks/weights.h"

using namespace doetune;
using namespace doetune::workloads;
using namespace doetune::workloads::cudnn;

namespace {

/// A detector, whose boxes are found on the GPU too.
Network small_network() {
  NetworkBuilder net("small", {3, 16, 16});
  net.conv(8, 3).max_pool(2, 2).conv(16, 3).linear_conv(2 * (5 + 3), 1);
  return net.build(DetectionHead{{{1.0F, 2.0F}, {3.0F, 1.0F}}, 3});
}

std::vector<float> small_weights() {
  std::vector<float> block(static_cast<std::size_t>(weight_count(small_network())));
  random_weights(small_network(), 3, block);
  return block;
}

// Engines and products are timed where that is tested.
[[maybe_unused]] const bool kUntimed = setenv("DOETUNE_CUDNN_TIMED", "0", 1) == 0;
struct Timed {
  Timed() { setenv("DOETUNE_CUDNN_TIMED", "2", 1); }
  ~Timed() { setenv("DOETUNE_CUDNN_TIMED", "0", 1); }
};

std::unique_ptr<CompiledNetwork> executor(const EngineOptions& options = {}) {
  return make_cudnn_engine(options)->compile(small_network(), small_weights(), {});
}

/// While it lives, memory ends after this number of creations.
struct MemoryEnds {
  explicit MemoryEnds(int after) { host_gpu::run_out_of_memory_after(after); }
  ~MemoryEnds() { host_gpu::run_out_of_memory_after(-1); }
};

/// The number of creations that `make` needs; each number below must end with CannotRun.
template <class Make>
int creations_of(Make make) {
  for (int enough = 0;; ++enough) {
    const MemoryEnds ends(enough);
    try {
      make();
      return enough;
    } catch (const CannotRun& error) {
      CHECK_THAT(error.what(), Catch::Contains("memory"));
    }
  }
}

std::unique_ptr<TrainableNetwork> training() {
  NetworkBuilder net("small", {3, 8, 8});
  net.conv(8, 3, Activation::relu).conv(8, 3, Activation::relu).global_average_pool();
  const Network network = net.dense(4, Activation::linear).build(ClassificationHead{4});
  std::vector<float> parameters_block(static_cast<std::size_t>(parameters(network)));
  std::vector<float> statistics(static_cast<std::size_t>(statistics_count(network)));
  initial_parameters(network, 3, parameters_block);
  initial_statistics(network, statistics);
  return make_cudnn_engine({})->train(network, parameters_block, statistics, {.batch = 2});
}

/// Heads of 16 elements.
constexpr DecoderShape kSmallModel{1, 32, 2, 1, 32, 33, 640, 1e4, true};
/// Heads of 64 elements, which tensor cores multiply in bf16.
constexpr DecoderShape kTiledModel{1, 128, 2, 1, 32, 33, 640, 1e4, true};

constexpr BatchLimits kLimits{3, 20, 16, 3 * blocks_for(85, 16)};
constexpr DecoderOptions kDecoder{CacheType::bf16, kLimits.block_size, kLimits.blocks, 23, 3, 1};

/// The number of steps in which a decoder with these limits answers requests.
int steps_of(Decoder& decoder) {
  const RequestKind kind{33, Lengths::parse("prompt", "1..80"), Lengths::parse("answer", "1..6"),
                         3};
  ContinuousBatch batch(decoder, kLimits);
  int steps = 0;
  for (int next = 0; next < 5 || batch.size() > 0; ++steps) {
    while (next < 5 && batch.size() < kLimits.sequences) batch.add(make_request(kind, next++));
    batch.step();
  }
  return steps;
}

/// The next token after these, read by so many at a time.
int next_after(Decoder& decoder, std::span<const int> tokens, std::size_t at_once) {
  std::vector<int> blocks(40);
  std::iota(blocks.begin(), blocks.end(), 0);
  std::vector<int> next(1);
  for (std::size_t read = 0; read < tokens.size(); read += at_once) {
    const auto some = tokens.subspan(read, std::min(at_once, tokens.size() - read));
    decoder.step(std::vector<Segment>{{some, static_cast<int>(read), blocks}}, next);
  }
  return next.front();
}

}  // namespace

// -- parts of a GPU -------------------------------------------------------------------------------

TEST_CASE("executors with a part of the GPU each have multiprocessors of their own", "[cuda]") {
  const int parts = GENERATE(2, 3, 4, 8, 16);
  std::set<int> taken;
  for (int part = 0; part < parts; ++part) {
    const Multiprocessors own(0, parts, part);
    const Stream stream(own);
    const std::set<int> its = host_gpu::multiprocessors_of(stream);
    CHECK(static_cast<int>(its.size()) == own.count());
    // The driver gives multiples of eight: at most seven of each part's share are left over.
    CHECK(own.count() > host_gpu::kMultiprocessors / parts - 8);
    for (const int multiprocessor : its) CHECK(taken.insert(multiprocessor).second);
  }
}

TEST_CASE("a GPU that cannot be divided so finely says so", "[cuda]") {
  CHECK_THROWS_AS(Multiprocessors(0, 17, 0), CannotRun);
  CHECK_THROWS_WITH(Multiprocessors(0, 17, 0), Catch::Contains("132 multiprocessors"));
  CHECK_THROWS_AS(Multiprocessors(0, 2, 2), std::invalid_argument);
  CHECK_THROWS_AS(Multiprocessors(0, 0, 0), std::invalid_argument);
}

TEST_CASE("an executor with a part of the GPU runs there, whichever context is current", "[cuda]") {
  const auto part = executor({0, 3, 2});
  const auto whole = executor();  // makes the primary context current
  for (const auto& each : {part.get(), whole.get()}) {
    std::ranges::fill(each->input(), 0.5F);
    each->infer(1);
  }
  CHECK(std::ranges::equal(part->output(), whole->output()));
}

// -- threads of a process -------------------------------------------------------------------------

TEST_CASE("an executor that starts does not disturb the preparation of another", "[cuda]") {
  std::future<void> other;
  bool begun = false;
  host_gpu::when_capture_begins([&] {
    if (std::exchange(begun, true)) return;
    other = std::async(std::launch::async, [] {
      const auto second = executor();
      second->infer(1);
      training()->evaluate(2);
    });
    // Enough for the other to get as far as it is let.
    other.wait_for(std::chrono::milliseconds(300));
  });
  CHECK_NOTHROW(executor());
  REQUIRE(begun);
  host_gpu::when_capture_begins({});
  CHECK_NOTHROW(other.get());
}

// -- images -------------------------------------------------------------------------------------

TEST_CASE("images that several threads copy are those that one copies", "[cuda]") {
  constexpr int kImages = 20;  // more than are in flight
  const auto image_of = [](int number) {
    auto image = std::make_shared<YcbcrImage>(20 + 2 * (number % 5), 30);
    for (int y = 0; y < 30; ++y)
      for (int x = 0; x < 20; ++x)
        image->luma_row(y)[x] = static_cast<std::uint8_t>(13 * number + 7 * x + y);
    return image;
  };
  const auto compiled_with = [](int threads) {
    return make_cudnn_engine({})->compile(small_network(), small_weights(),
                                          {kImages, Precision::fp32, threads});
  };
  const auto one = compiled_with(1), several = compiled_with(3);
  std::vector<std::weak_ptr<const void>> owners;
  for (int number = 0; number < kImages; ++number) {
    const auto lent = image_of(number);
    one->load(number, {lent->view(), nullptr});
    const std::shared_ptr<const YcbcrImage> kept = image_of(number);
    several->load(number, {kept->view(), kept});
    owners.push_back(kept);
  }
  one->infer(kImages);
  several->infer(kImages);
  CHECK(std::ranges::equal(several->output(), one->output()));
  for (const auto& owner : owners) CHECK(owner.expired());
}

// -- memory ---------------------------------------------------------------------------------------

TEST_CASE("whatever an executor cannot create for lack of memory, the settings do not fit",
          "[cuda]") {
  CHECK(creations_of([] { executor(); }) > 20);
  CHECK(creations_of([] { executor({0, 2, 1}); }) > 20);
  CHECK(creations_of([] {
          const auto made = training();
          made->gradients(2);
          made->evaluate(2);
        }) > 20);
  CHECK(creations_of([] {
          const auto model = make_gpu_language_model(kSmallModel, 3, Precision::fp32);
          model->decoder({CacheType::bf16, 16, 4, 2, 1, 1});
        }) > 25);
}

// -- language models ------------------------------------------------------------------------------

TEST_CASE("the steps of a language model prepare nothing, and each is one graph", "[cuda]") {
  const Timed timed;
  for (const auto& [shape, precision] :
       {std::pair(kSmallModel, Precision::fp32), std::pair(kTiledModel, Precision::bf16)}) {
    const auto model = make_gpu_language_model(shape, 3, precision);
    const auto decoder = model->decoder(kDecoder);
    const MemoryEnds now(0);
    const host_gpu::Calls before = host_gpu::calls();
    const int steps = steps_of(*decoder);
    const host_gpu::Calls after = host_gpu::calls();
    CHECK(after.algorithm_searches == before.algorithm_searches);
    CHECK(after.timings == before.timings);
    CHECK(after.graph_launches == before.graph_launches + steps);
  }
}

TEST_CASE("decoders of a language model share what was timed", "[cuda]") {
  const Timed timed;
  const auto model = make_gpu_language_model(kSmallModel, 3, Precision::fp32);
  const int before = host_gpu::calls().timings;
  const auto first = model->decoder(kDecoder);
  const int timings = host_gpu::calls().timings;
  CHECK(timings > before);
  const auto second = model->decoder(kDecoder);
  CHECK(host_gpu::calls().timings == timings);
  const std::vector<int> tokens{5, 4, 3, 2, 1};
  CHECK(next_after(*first, tokens, 2) == next_after(*second, tokens, 2));
}

TEST_CASE("a step of many tokens is no graph, and gives what smaller ones give", "[cuda][long]") {
  const auto model = make_gpu_language_model(kSmallModel, 3, Precision::fp32);
  const auto decoder = model->decoder({CacheType::bf16, 16, 40, 520, 1, 1});
  std::vector<int> tokens(520);
  for (int i = 0; i < 520; ++i) tokens[static_cast<std::size_t>(i)] = i * i % 33;
  const host_gpu::Calls before = host_gpu::calls();
  const MemoryEnds now(0);
  const int next = next_after(*decoder, tokens, 520);
  CHECK(host_gpu::calls().graph_launches == before.graph_launches);
  CHECK(next_after(*decoder, tokens, 260) == next);
  CHECK(host_gpu::calls().graph_launches == before.graph_launches + 2);
  CHECK(host_gpu::calls().algorithm_searches == before.algorithm_searches);
}

// -- choice of engines ----------------------------------------------------------------------------

TEST_CASE("an engine that is compiled at run time is timed beside the precompiled ones", "[cuda]") {
  const Multiprocessors all(0);
  const Stream stream(all);
  const Handle handle(stream);
  ConvolutionCase problem{1, Precision::fp32, {8, 4, 4}, {8, 4, 4}, 8, 8, 0, {3, 3}, 1, {1, 1}};
  problem.activation = Activation::leaky;
  for (const auto& [seconds, fusion] :
       {std::pair(1e-6, Fusion::everything), std::pair(1e-3, Fusion::bias)}) {
    host_gpu::set_engine_seconds(host_gpu::kCompiledAtRunTime, seconds);
    PlanCache cache({}, "host GPU", 0);
    PlanChooser chooser({handle, nullptr}, {stream, 0}, cache, /*timed=*/8);
    CHECK(chooser.choose(problem)->fusion == fusion);
  }
  PlanCache cache({}, "host GPU", 0);
  PlanChooser untimed({handle, nullptr}, {stream, 0}, cache, 0);
  CHECK(untimed.choose(problem)->fusion == Fusion::bias);  // nothing is compiled unasked
}
