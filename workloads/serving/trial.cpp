#include "workloads/serving/trial.h"

#include <fmt/format.h>

#include "base/clock.h"

namespace doetune::workloads {
namespace {

constexpr int kTrials = 3;

struct Trial : Transfer {
  explicit Trial(const Api& api) : answer(api, true) {}
  bool receive(long status, std::string_view bytes, double now_s) override {
    return answer.receive(status, bytes, now_s);
  }
  void finish(const TransferEnd& how) override { end = how; }

  Answer answer;
  TransferEnd end;
};

}  // namespace

Outcome try_server(const LoadPlan& plan) {
  std::string body, reason;
  plan.requests->write(0, body);
  for (int i = 0; i < kTrials; ++i) {
    Trial trial(*plan.api);
    HttpClient client(plan.target, 1);
    const double begin_s = monotonic_s();
    client.start(trial, body);
    client.run();
    const bool arrived = trial.end.fault == Fault::none;
    const Fault fault = arrived ? trial.answer.finish(trial.end.status) : trial.end.fault;
    if (fault == Fault::none)
      return {begin_s, trial.end.time_s, trial.answer.first_token_s(), trial.answer.last_token_s(),
              trial.answer.output_tokens()};
    const std::string example = arrived ? trial.answer.example() : trial.end.example;
    reason = fmt::format("{}{}{}", sentence_of(fault), example.empty() ? "" : ": ", example);
    if (fault == Fault::timed_out) break;
  }
  throw std::runtime_error(
      fmt::format("{} does not answer a first request: {}", plan.target.url, reason));
}

}  // namespace doetune::workloads
