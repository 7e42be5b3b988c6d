#include "workloads/language/continuous_batch.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"

namespace doetune::workloads {

bool ContinuousBatch::has_room(const GenerationRequest& request) const {
  return size() < limits_.sequences &&
         blocks_for(request.cached_tokens(), limits_.block_size) <= pool_.free();
}

void ContinuousBatch::add(GenerationRequest request) {
  Sequence sequence;
  sequence.blocks = pool_.take(blocks_for(request.cached_tokens(), limits_.block_size));
  sequence.generation.request = std::move(request);
  sequences_.push_back(std::move(sequence));
}

/// The tokens of a sequence in the next step; `chunk` is left for prompts.
std::span<const int> ContinuousBatch::next_tokens(const Sequence& sequence, int chunk) const {
  const Generation& generation = sequence.generation;
  if (!sequence.in_prompt()) return std::span(generation.answer).last(1);
  const auto rest = std::span(generation.request.prompt).subspan(sequence.cached);
  return rest.first(std::min(rest.size(), static_cast<std::size_t>(chunk)));
}

Step ContinuousBatch::step() {
  Step step;
  step.begin_s = monotonic_s();
  std::vector<Segment> segments;
  std::vector<Sequence*> active;
  int chunk = limits_.prefill_chunk;
  for (Sequence& sequence : sequences_) {
    const auto tokens = next_tokens(sequence, chunk);
    if (tokens.empty()) continue;
    const auto count = static_cast<int>(tokens.size());
    const bool in_prompt = sequence.in_prompt();
    if (in_prompt) {
      chunk -= count;
      step.size.prompt_tokens += count;
    }
    const bool predict = sequence.cached + count >= std::ssize(sequence.generation.request.prompt);
    segments.push_back({tokens, sequence.cached, sequence.blocks, predict});
    active.push_back(&sequence);
    step.size.add(sequence.cached, count, predict);
  }

  std::vector<int> next(segments.size());
  decoder_.step(segments, next);
  step.end_s = monotonic_s();
  for (std::size_t i = 0; i < active.size(); ++i) {
    active[i]->cached += static_cast<int>(segments[i].tokens.size());
    if (!segments[i].predict) continue;
    Generation& generation = active[i]->generation;
    if (generation.answer.empty()) generation.first_token_s = step.end_s;
    generation.answer.push_back(next[i]);
    generation.last_token_s = step.end_s;
  }
  std::erase_if(sequences_, [&](Sequence& sequence) {
    Generation& generation = sequence.generation;
    if (std::ssize(generation.answer) < generation.request.answer_tokens) return false;
    pool_.give_back(sequence.blocks);
    step.finished.push_back(std::move(generation));
    return true;
  });
  return step;
}

}  // namespace doetune::workloads
