#include "workloads/serving/generator.h"

#include <algorithm>

#include "base/clock.h"

namespace doetune::workloads {
namespace {

constexpr double kLook_s = 0.02;  // how often to look whether to stop

/// The part of `total` things that thread `thread` of `threads` has.
int part_of(int total, int thread, int threads) {
  return total / threads + (thread < total % threads ? 1 : 0);
}

}  // namespace

struct Generator::Exchange : Transfer {
  explicit Exchange(Generator& sender) : generator(sender), answer(*sender.plan_.api) {}
  bool receive(long status, std::string_view bytes, double now_s) override {
    return answer.receive(status, bytes, now_s);
  }
  void finish(const TransferEnd& end) override { generator.finished(*this, end); }

  Generator& generator;
  Answer answer;
  std::string body;
  double begin_s = 0;
};

Generator::Generator(const LoadPlan& plan, int thread, Outcomes& outcomes)
    : plan_(plan),
      outcomes_(outcomes),
      next_request_(static_cast<std::uint64_t>(thread)),
      limit_(part_of(plan.rate ? plan.max_in_flight : plan.concurrency, thread, plan.threads)),
      client_(plan.target, limit_) {
  const double now_s = monotonic_s();
  if (plan.rate) {
    arrivals_.emplace(*plan.rate / plan.threads, now_s, ~plan.seed,
                      static_cast<std::uint64_t>(thread));
    arrival_s_ = arrivals_->next();
  } else {
    resume_s_.assign(static_cast<std::size_t>(limit_), now_s);
  }
}

Generator::~Generator() = default;

void Generator::run(const std::atomic<bool>& stop) {
  while (!stop.load(std::memory_order_relaxed)) {
    const double now_s = monotonic_s();
    send_due(now_s);
    client_.run_until(next_s(now_s));
  }
}

void Generator::send_due(double now_s) {
  for (; !resume_s_.empty() && resume_s_.front() <= now_s; resume_s_.pop_front()) send(now_s);
  if (!arrivals_) return;
  for (; arrival_s_ <= now_s; arrival_s_ = arrivals_->next()) {
    if (client_.in_flight() < limit_)
      send(arrival_s_);
    else
      outcomes_.add({.begin_s = arrival_s_, .end_s = now_s, .fault = Fault::not_sent}, "");
  }
}

double Generator::next_s(double now_s) const {
  double next_s = now_s + kLook_s;
  if (!resume_s_.empty()) next_s = std::min(next_s, resume_s_.front());
  return arrivals_ ? std::min(next_s, arrival_s_) : next_s;
}

void Generator::send(double begin_s) {
  if (idle_.empty()) {
    exchanges_.push_back(std::make_unique<Exchange>(*this));
    idle_.push_back(exchanges_.back().get());
  }
  Exchange& exchange = *idle_.back();
  idle_.pop_back();
  exchange.answer.clear();
  exchange.begin_s = begin_s;
  plan_.requests->write(next_request_, exchange.body);
  next_request_ += static_cast<std::uint64_t>(plan_.threads);
  client_.start(exchange, exchange.body);
}

void Generator::finished(Exchange& exchange, const TransferEnd& end) {
  Answer& answer = exchange.answer;
  const Fault fault = end.fault == Fault::none ? answer.finish(end.status) : end.fault;
  const bool failed = fault != Fault::none;
  outcomes_.add({exchange.begin_s, end.time_s, answer.first_token_s(), answer.last_token_s(),
                 failed ? 0 : answer.output_tokens(), fault},
                !failed                    ? ""
                : end.fault == Fault::none ? answer.example()
                                           : end.example);
  idle_.push_back(&exchange);
  if (plan_.rate) return;
  if (failed)
    resume_s_.push_back(end.time_s + kPause_s);
  else
    send(end.time_s);
}

}  // namespace doetune::workloads
