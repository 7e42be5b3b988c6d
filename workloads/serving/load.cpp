#include "workloads/serving/load.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/clock.h"

namespace doetune::workloads {
namespace {

constexpr auto kPoll = std::chrono::milliseconds(5);

}  // namespace

Load::Load(LoadPlan plan) : plan_(std::move(plan)) {
  last_answer_s_ = last_end_s_ = monotonic_s();
  for (int i = 0; i < plan_.threads; ++i)
    threads_.emplace_back([this, i] {
      try {
        Generator(plan_, i, *this).run(stop_);
      } catch (...) {
        const std::scoped_lock lock(mutex_);
        error_ = std::current_exception();
      }
    });
}

Load::~Load() { stop_ = true; }

void Load::add(const Outcome& outcome, std::string example) {
  const std::scoped_lock lock(mutex_);
  arrived_.push_back(outcome);
  if (outcome.fault != Fault::none) faults_.add(outcome.fault, std::move(example));
}

FaultCounts Load::faults() const {
  const std::scoped_lock lock(mutex_);
  return faults_;
}

void Load::fetch_outcomes() {
  outcomes_.clear();
  used_ = 0;
  {
    const std::scoped_lock lock(mutex_);
    if (error_) std::rethrow_exception(error_);
    outcomes_.swap(arrived_);
  }
  if (outcomes_.empty()) std::this_thread::sleep_for(kPoll);
  std::ranges::sort(outcomes_, {}, &Outcome::end_s);
}

/// Throws where waiting for an answer is in vain.
void Load::check_progress(double now_s) const {
  constexpr double kGrace_s = 1;
  const double silent_s = now_s - last_answer_s_;
  const bool failing = failed_ > 0 && silent_s > plan_.patience_s;
  if (!failing && silent_s <= plan_.target.timeout_s + kGrace_s) return;
  const std::string reasons = faults().sentences();
  throw std::runtime_error(fmt::format("{} answered no request for {:.1f} s{}{}", plan_.target.url,
                                       silent_s, reasons.empty() ? "" : ": ", reasons));
}

Answered Load::answered(const Outcome& outcome) {
  // Threads report ends with a little delay, so one may follow a later one.
  const double end_s = std::max(outcome.end_s, last_end_s_);
  Answered one{.elapsed_s = end_s - std::exchange(last_end_s_, end_s),
               .latency_s = outcome.end_s - outcome.begin_s,
               .output_tokens = outcome.output_tokens,
               .failed = std::exchange(failed_, 0),
               .refused = std::exchange(refused_, 0)};
  if (outcome.first_token_s > 0) one.first_token_s = outcome.first_token_s - outcome.begin_s;
  if (outcome.output_tokens > 1)
    one.inter_token_s =
        (outcome.last_token_s - outcome.first_token_s) / (outcome.output_tokens - 1);
  return one;
}

LoadMeasurement Load::measure(const measurement::StoppingRule& rule) {
  measurement::Measurement latencies(rule, last_end_s_);
  LoadMeasurement measured;
  while (!latencies.stopped_by()) {
    if (used_ == outcomes_.size()) {
      check_progress(monotonic_s());
      fetch_outcomes();
      continue;
    }
    const Outcome& outcome = outcomes_[used_++];
    if (outcome.fault == Fault::none) {
      measured.values.push_back(answered(outcome));
      latencies.add(measured.values.back().latency_s, last_end_s_);
      last_answer_s_ = monotonic_s();
    } else {
      ++failed_;
      if (outcome.fault == Fault::refused) ++refused_;
    }
  }
  conclude(latencies, "latency", measured);
  return measured;
}

}  // namespace doetune::workloads
