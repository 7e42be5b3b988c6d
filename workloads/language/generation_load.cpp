#include "workloads/language/generation_load.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <utility>

#include "base/clock.h"
#include "workloads/processes/cpus.h"

namespace doetune::workloads {
namespace {

constexpr auto kPoll = std::chrono::milliseconds(1);

Answered answered(const Generation& generation) {
  const double arrival_s = generation.request.arrival_s;
  const auto tokens = static_cast<int>(generation.answer.size());
  Answered one{.latency_s = generation.last_token_s - arrival_s,
               .first_token_s = generation.first_token_s - arrival_s,
               .output_tokens = tokens};
  if (tokens > 1)
    one.inter_token_s = (generation.last_token_s - generation.first_token_s) / (tokens - 1);
  return one;
}

}  // namespace

StepTotals& StepTotals::operator+=(const StepTotals& other) {
  busy_s += other.busy_s;
  roofline_s += other.roofline_s;
  decode_s += other.decode_s;
  decode_bytes += other.decode_bytes;
  return *this;
}

GenerationLoad::GenerationLoad(std::vector<std::unique_ptr<Decoder>> decoders,
                               const BatchLimits& limits, RequestStream& requests, Cost cost,
                               const std::vector<int>& cpus)
    : limits_(limits),
      requests_(requests),
      cost_(std::move(cost)),
      decoders_(std::move(decoders)),
      last_end_s_(monotonic_s()),
      measured_until_s_(last_end_s_) {
  const auto count = static_cast<int>(decoders_.size());
  for (int i = 0; i < count; ++i)
    threads_.emplace_back([this, part = cpus_of(cpus, i, count), i] {
      try {
        use_cpus(part);
        run(*decoders_[static_cast<std::size_t>(i)]);
      } catch (...) {
        const std::scoped_lock lock(mutex_);
        error_ = std::current_exception();
      }
    });
}

GenerationLoad::~GenerationLoad() { stop_ = true; }

void GenerationLoad::run(Decoder& decoder) {
  ContinuousBatch batch(decoder, limits_);
  std::deque<GenerationRequest> waiting;
  while (!stop_) {
    fill(batch, waiting);
    if (batch.size() == 0)
      std::this_thread::sleep_for(kPoll);
    else
      report(batch.step());
  }
}

void GenerationLoad::fill(ContinuousBatch& batch, std::deque<GenerationRequest>& waiting) {
  const auto has_room = [&](const GenerationRequest& request) { return batch.has_room(request); };
  const auto add_waiting = [&] {
    while (!waiting.empty() && has_room(waiting.front())) {
      batch.add(std::move(waiting.front()));
      waiting.pop_front();
    }
  };
  add_waiting();
  while (batch.size() + std::ssize(waiting) < limits_.sequences) {
    std::optional<GenerationRequest> next = requests_.next(has_room);
    if (!next) break;
    waiting.push_back(std::move(*next));
    add_waiting();
  }
}

void GenerationLoad::report(const Step& step) {
  const StepCost cost = cost_(step.size);
  const bool decodes = step.size.prompt_tokens == 0;
  const std::scoped_lock lock(mutex_);
  steps_ += {busy_.add(step.begin_s, step.end_s), cost.roofline_s,
             decodes ? decoding_.add(step.begin_s, step.end_s) : 0, decodes ? cost.bytes : 0};
  for (const Generation& generation : step.finished) {
    Generated one{answered(generation), static_cast<int>(generation.request.prompt.size()),
                  std::exchange(steps_, {})};
    // Executors report with a little delay, so one may follow a later one.
    const double end_s = std::max(generation.last_token_s, last_end_s_);
    one.elapsed_s = end_s - std::exchange(last_end_s_, end_s);
    finished_.push_back(one);
  }
}

std::vector<Generated> GenerationLoad::fetch() {
  const std::scoped_lock lock(mutex_);
  if (error_) std::rethrow_exception(error_);
  return std::exchange(finished_, {});
}

GenerationMeasurement GenerationLoad::measure(const measurement::StoppingRule& rule) {
  measurement::Measurement latencies(rule, measured_until_s_);
  GenerationMeasurement measured;
  while (true) {
    if (fetched_.empty() && latencies.stopped_by()) break;
    if (fetched_.empty()) {
      fetched_ = fetch();
      std::ranges::reverse(fetched_);
      if (fetched_.empty()) {
        latencies.look_at_deadline(monotonic_s());
        std::this_thread::sleep_for(kPoll);
      }
      continue;
    }
    // Requests that end in the same step are measured together: those of the warm-up's last step
    // would bring its times into the measurement, with no time of their own.
    if (fetched_.back().elapsed_s > 0 && latencies.stopped_by()) break;
    measured.values.push_back(fetched_.back());
    fetched_.pop_back();
    measured_until_s_ += measured.values.back().elapsed_s;
    latencies.add(measured.values.back().latency_s, measured_until_s_);
  }
  conclude(latencies, "latency", measured);
  return measured;
}

}  // namespace doetune::workloads
