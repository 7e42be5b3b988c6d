// Continuous batching: sequences enter and leave the batch at every step.
#pragma once

#include <cstdint>
#include <list>
#include <span>
#include <vector>

#include "workloads/language/block_pool.h"
#include "workloads/language/decoder.h"
#include "workloads/language/step_cost.h"

namespace doetune::workloads {

struct GenerationRequest {
  std::int64_t number = 0;
  double arrival_s = 0;  ///< seconds of the steady clock
  std::vector<int> prompt;
  int answer_tokens = 0;  ///< at least 1

  /// In the cache at the end; the last token of the answer is never read.
  int cached_tokens() const { return static_cast<int>(prompt.size()) + answer_tokens - 1; }
};

/// A request that was answered.
struct Generation {
  GenerationRequest request;
  std::vector<int> answer;
  double first_token_s = 0;  ///< seconds of the steady clock
  double last_token_s = 0;
};

struct BatchLimits {
  int sequences = 1;      ///< at the same time
  int prefill_chunk = 1;  ///< tokens of prompts in a step
  int block_size = kBlockSizeMultiple;
  int blocks = 0;  ///< of the cache
};

/// Blocks that a sequence of so many tokens needs.
constexpr int blocks_for(int tokens, int block_size) {
  return (tokens + block_size - 1) / block_size;
}

struct Step {
  StepSize size;
  double begin_s = 0, end_s = 0;  ///< seconds of the steady clock
  double seconds() const { return end_s - begin_s; }
  std::vector<Generation> finished;
};

/// The sequences that a decoder works on. In each step every sequence whose prompt has been read
/// gets one token more (iteration-level scheduling: Yu et al. 2022, Orca, OSDI), and up to
/// `prefill_chunk` tokens of the prompts of others are read, in the order of their arrival (chunked
/// prefill: Agrawal et al. 2024, Sarathi-Serve, OSDI). A sequence reserves all blocks that it will
/// need, so that none must be interrupted for lack of them. Answers are the most likely tokens.
class ContinuousBatch {
 public:
  /// The decoder must have been made with these limits and outlive the batch.
  ContinuousBatch(Decoder& decoder, const BatchLimits& limits)
      : decoder_(decoder), limits_(limits), pool_(limits.blocks) {}

  int size() const { return static_cast<int>(sequences_.size()); }
  bool has_room(const GenerationRequest& request) const;

  /// Requires room.
  void add(GenerationRequest request);

  /// Requires a sequence.
  Step step();

 private:
  struct Sequence {
    Generation generation;
    std::vector<int> blocks;
    int cached = 0;  // tokens
    bool in_prompt() const { return cached < std::ssize(generation.request.prompt); }
  };

  std::span<const int> next_tokens(const Sequence& sequence, int chunk) const;

  Decoder& decoder_;
  BatchLimits limits_;
  BlockPool pool_;
  std::list<Sequence> sequences_;  // in the order of their arrival
};

}  // namespace doetune::workloads
