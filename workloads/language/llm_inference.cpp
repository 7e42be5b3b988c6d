// The workload `llm-inference`: a decoder-only language model that answers a stream of requests, by
// continuous batching with a paged cache.
#include "workloads/workloads.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/clock.h"
#include "workloads/language/decoder_weights.h"
#include "workloads/language/generation_dump.h"
#include "workloads/language/generation_load.h"
#include "workloads/language/llm_result.h"
#include "workloads/memory.h"
#include "workloads/processes/cpus.h"
#include "workloads/shared_inputs.h"
#include "workloads/timing/roofline.h"
#include "workloads/timing/stopping_rule.h"

namespace doetune::workloads {
namespace {

constexpr double kMaxLayers = 1000;
constexpr double kLargest = 1 << 20;  // of the other dimensions
constexpr int kLargestBlock = 256;
constexpr double kMiB = 1024.0 * 1024;
constexpr int kDumped = 4;  // requests

/// A dimension of the shape, which replaces that of the model.
struct Dimension {
  const char* name;
  int DecoderShape::*value;
  const char* description;
};

constexpr Dimension kDimensions[] = {
    {"layers", &DecoderShape::layers, "layers"},
    {"width", &DecoderShape::width, "width of the layers"},
    {"heads", &DecoderShape::heads, "heads of the queries"},
    {"kv_heads", &DecoderShape::kv_heads, "heads of the keys and values"},
    {"ffn_width", &DecoderShape::ffn_width, "width of the feed-forward layers"},
    {"vocabulary", &DecoderShape::vocabulary, "number of different tokens"},
    {"positions", &DecoderShape::positions, "maximum length of prompt and answer together"}};

std::vector<Input> llm_inputs() {
  using enum InputKind;
  std::vector<std::string> models;
  for (const NamedShape& named : named_shapes()) models.emplace_back(named.name);
  std::vector<Input> all{
      categories("model", std::move(models), "shape of the model; its weights are random")};
  for (const Dimension& each : kDimensions)
    all.push_back({each.name, integer, nullptr,
                   std::string(each.description) + "; default: those of the model", "", 1,
                   each.value == &DecoderShape::layers ? kMaxLayers : kLargest});
  const std::vector<Input> own{
      {"batch_size", integer, 8,
       "sequences that an executor works on at the same time; without request_rate there are "
       "always that many requests, each replaced by the next when it is answered",
       "", 1, 4096},
      {"request_rate", continuous, nullptr,
       "mean rate of random (Poisson) arrivals, of all executors together", "requests/s", 0.001,
       1e6},
      {"prompt_tokens", text, "128",
       "length of a prompt: 128, 64..256 or lognormal:MEDIAN:SIGMA[:MAX]"},
      {"output_tokens", text, "64", "length of an answer, written likewise"},
      {"prefill_chunk", integer, 256, "maximum number of prompt tokens that a step reads", "", 1,
       kLargest},
      categories("cache_precision", cache_type_names(),
                 "number format of cached keys and values; int8 and fp8 (E4M3) have a scale for "
                 "each token and head"),
      {"block_size",
       integer,
       16,
       "tokens in a block of the cache",
       "",
       kBlockSizeMultiple,
       kLargestBlock,
       {},
       kBlockSizeMultiple},
      {"cache_memory_limit", continuous, nullptr,
       "maximum memory of an executor's cache, which may limit it to fewer sequences; default: "
       "what batch_size sequences of maximum length need",
       "MiB", 0.001, 1e9},
      categories("precision", {"fp32", "bf16"}, "number format of the weights; sums are fp32"),
      {"executors_per_gpu", integer, 1,
       "executors that share the weights, each with its batch and cache; on a CPU they divide the "
       "cores",
       "", 1, 256},
      categories("device", language_devices(), "device to run on"),
      threads_input(),
      {"warmup", continuous, 1.0, "minimum warm-up time before the measurement", "s", 0, 3600},
      {"duration", continuous, 10.0, "minimum measurement time", "s", 0, 86400},
      {"requests", integer, 20, "minimum number of measured requests", "", 1, 100000000},
      roofline_input(),
      {"dump", text, nullptr,
       "a directory to write shape.json and weights.f32 to, and the first requests with their "
       "answers, answers.json"}};
  all.insert(all.end(), own.begin(), own.end());
  return all;
}

DecoderShape shape_of(const Inputs& in) {
  DecoderShape shape =
      std::ranges::find(named_shapes(), in.text("model"), &NamedShape::name)->shape;
  for (const Dimension& each : kDimensions)
    if (in.has(each.name)) shape.*each.value = in.integer(each.name);
  try {
    check_shape(shape);
  } catch (const std::invalid_argument& error) {
    throw UsageError(error.what());
  }
  return shape;
}

/// Throws Infeasible if a request can be longer than the model's positions.
int longest_sequence(const DecoderShape& shape, const RequestKind& requests) {
  const int prompt = requests.prompt.longest(), answer = requests.answer.longest();
  if (prompt + answer > shape.positions)
    throw Infeasible(fmt::format(
        "a prompt of up to {} tokens and an answer of up to {} exceed the model's {} positions",
        prompt, answer, shape.positions));
  return prompt + answer - 1;  // the last token of the answer is never read
}

/// The limits of an executor. Throws Infeasible if its cache is too small for a sequence.
BatchLimits limits_of(const Inputs& in, const DecoderShape& shape, int longest) {
  BatchLimits limits;
  limits.sequences = in.integer("batch_size");
  limits.prefill_chunk = in.integer("prefill_chunk");
  limits.block_size = in.integer("block_size");
  const int needed = blocks_for(longest, limits.block_size);
  const std::int64_t all = std::int64_t{needed} * limits.sequences;
  std::int64_t blocks = all;
  if (in.has("cache_memory_limit")) {
    const double block_bytes = static_cast<double>(cache_bytes_per_token(
                                   shape, cache_type_named(in.text("cache_precision")))) *
                               limits.block_size;
    const double fit = std::floor(in.number("cache_memory_limit") * kMiB / block_bytes);
    blocks = std::min(all, static_cast<std::int64_t>(std::min(fit, 2e9)));
    if (blocks < needed)
      throw Infeasible(
          fmt::format("cache_memory_limit = {:g} MiB holds {} tokens; the longest sequence has {}",
                      in.number("cache_memory_limit"), blocks * limits.block_size, longest));
  }
  if (blocks > std::numeric_limits<int>::max())
    throw Infeasible(fmt::format("a cache of {} blocks is too large", blocks));
  limits.blocks = static_cast<int>(blocks);
  return limits;
}

DecoderOptions decoder_options(const Request& request, const BatchLimits& limits, int executors) {
  DecoderOptions options;
  options.cache = cache_type_named(request.inputs.text("cache_precision"));
  options.block_size = limits.block_size;
  options.blocks = limits.blocks;
  options.max_tokens = limits.sequences + limits.prefill_chunk;
  options.max_segments = limits.sequences;
  options.threads = std::max(1, threads_of(request) / executors);
  return options;
}

/// The answers to the first requests, in order.
std::vector<Generation> generate(Decoder& decoder, const BatchLimits& limits,
                                 const RequestKind& kind, int count) {
  ContinuousBatch batch(decoder, limits);
  std::vector<Generation> all;
  for (int next = 0; std::ssize(all) < count;) {
    while (next < count) {
      GenerationRequest request = make_request(kind, next);
      if (!batch.has_room(request)) break;
      batch.add(std::move(request));
      ++next;
    }
    for (Generation& each : batch.step().finished) all.push_back(std::move(each));
  }
  std::ranges::sort(all, {}, [](const Generation& each) { return each.request.number; });
  return all;
}

Result run_llm_inference(const Request& request) {
  const Clock::time_point start = Clock::now();
  const Inputs& in = request.inputs;
  const DecoderShape shape = shape_of(in);
  const Precision precision = precision_named(in.text("precision"));
  const RequestKind kind{shape.vocabulary,
                         Lengths::parse("prompt_tokens", in.text("prompt_tokens")),
                         Lengths::parse("output_tokens", in.text("output_tokens")), request.seed};
  const int executors = in.integer("executors_per_gpu");
  const BatchLimits limits = limits_of(in, shape, longest_sequence(shape, kind));
  const DecoderOptions options = decoder_options(request, limits, executors);
  const LlmMemory memory{
      weight_count(shape) * bytes_of(precision),
      cache_bytes_per_token(shape, options.cache) * limits.block_size * limits.blocks * executors};
  const bool on_cpu = in.text("device") == "cpu";
  if (on_cpu) require_memory(memory.weights + memory.cache, "the weights and the caches");
  // The products of the CPU's engine are in fp32.
  const auto peak_rates = peak_rates_for(request, on_cpu ? Precision::fp32 : precision);

  const auto model =
      make_language_model(in.text("device"), shape, request.seed, precision, threads_of(request));
  std::vector<std::unique_ptr<Decoder>> decoders;
  for (int i = 0; i < executors; ++i) decoders.push_back(model->decoder(options));
  if (in.has("dump"))
    dump_generation(in.text("dump"), shape, request.seed,
                    generate(*decoders.front(), limits, kind, kDumped));

  measurement::StoppingRule rule = stopping_rule(request, in.integer("requests"));
  rule.quantiles = time_quantiles(request.responses);
  rule.deadline_s = deadline_s(request, start);
  RequestStream requests(
      kind, in.has("request_rate") ? std::optional(in.number("request_rate")) : std::nullopt);
  const auto cost = [&](const StepSize& size) {
    return cost_of(shape, size, precision, options.cache, peak_rates);
  };
  GenerationLoad load(std::move(decoders), limits, requests, cost, assigned_cpus(request.cpus));
  const auto measured = measure_after_warmup(load, rule, in.number("warmup"), request.repeats);
  Result result = llm_result(measured, memory, peak_rates.has_value(), request.repeats);
  add_peak_rate_notes(peak_rates, result);
  result.notes["engine"] = model->description();
  result.notes["parameters"] = weight_count(shape);
  return result;
}

}  // namespace

const Workload& llm_inference_workload() {
  static const Workload workload{
      "llm-inference",
      "a language model with random weights that answers requests by continuous batching",
      "llm-inference --model smollm2-135m --batch_size 8 --prompt_tokens 64..256",
      llm_inputs(),
      llm_responses(),
      run_llm_inference};
  return workload;
}

}  // namespace doetune::workloads
