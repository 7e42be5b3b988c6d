// Times the answers of a language model on the CPU; started by compare.py.
//
//   bench_language MODEL BATCH PROMPT_TOKENS ANSWER_TOKENS PRECISION CACHE_PRECISION THREADS
//   DUMP_DIR
//
// Writes the model and the answers to the first BATCH requests to DUMP_DIR (generation_dump.h),
// then answers each line "N" on standard input: N times, all BATCH prompts are read in one step and
// the answers generated together. Prints the seconds up to the first tokens and those of the
// others.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "base/clock.h"
#include "workloads/language/continuous_batch.h"
#include "workloads/language/generation_dump.h"
#include "workloads/language/request_stream.h"

namespace {

using namespace doetune;
using namespace doetune;
using namespace doetune::workloads;

constexpr std::uint64_t kSeed = 1;

struct Times {
  double first_tokens_s = 0;
  double other_tokens_s = 0;
};

std::vector<Generation> generate(ContinuousBatch& batch, const RequestKind& kind, int count,
                                 Times& times) {
  for (int number = 0; number < count; ++number) batch.add(make_request(kind, number));
  std::vector<Generation> all;
  times.first_tokens_s += batch.step().seconds();
  while (batch.size() > 0) {
    Step step = batch.step();
    times.other_tokens_s += step.seconds();
    for (Generation& each : step.finished) all.push_back(std::move(each));
  }
  std::ranges::sort(all, {}, [](const Generation& each) { return each.request.number; });
  return all;
}

void serve(const std::vector<std::string>& arguments) {
  const DecoderShape shape =
      std::ranges::find(named_shapes(), arguments.at(0), &NamedShape::name)->shape;
  const int count = std::stoi(arguments.at(1));
  const int prompt = std::stoi(arguments.at(2)), answer = std::stoi(arguments.at(3));
  const int threads = std::stoi(arguments.at(6));
  const RequestKind kind{shape.vocabulary, Lengths::parse("prompt", arguments.at(2)),
                         Lengths::parse("answer", arguments.at(3)), kSeed};
  const BatchLimits limits{count, count * prompt, 16, count * blocks_for(prompt + answer, 16)};
  const auto model =
      make_language_model("cpu", shape, kSeed, precision_named(arguments.at(4)), threads);
  const auto decoder =
      model->decoder({cache_type_named(arguments.at(5)), limits.block_size, limits.blocks,
                      limits.sequences + limits.prefill_chunk, count, threads});
  ContinuousBatch batch(*decoder, limits);
  Times ignored;
  dump_generation(arguments.at(7), shape, kSeed, generate(batch, kind, count, ignored));

  std::cout << "ready" << std::endl;
  for (int repetitions = 0; std::cin >> repetitions;) {
    Times times;
    for (int i = 0; i < repetitions; ++i) generate(batch, kind, count, times);
    std::cout << times.first_tokens_s << ' ' << times.other_tokens_s << std::endl;
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 9) {
    std::fprintf(stderr,
                 "usage: bench_language MODEL BATCH PROMPT_TOKENS ANSWER_TOKENS PRECISION "
                 "CACHE_PRECISION THREADS DUMP_DIR\n");
    return 2;
  }
  try {
    serve({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_language: %s\n", error.what());
    return 1;
  }
}
