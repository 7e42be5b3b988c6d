// Requests that were answered, and the responses that they make: rates, times and percentiles.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "base/clock.h"
#include "workloads/timing/measured.h"

namespace doetune::workloads {

/// An answered request, with what happened since the one before it. In seconds.
struct Answered {
  double elapsed_s = 0;      ///< between the ends of the two
  double latency_s = 0;      ///< from the intended start to the last byte
  double first_token_s = 0;  ///< from the intended start; 0: there was none
  double inter_token_s = 0;  ///< mean time between tokens, if there are several
  int output_tokens = 0;
  int failed = 0;   ///< requests that failed meanwhile
  int refused = 0;  ///< those of them that the server refused
};

/// requests_per_second, output_tokens_per_second, and the mean latency, time_to_first_token and
/// inter_token_latency.
std::vector<Ratio<Answered>> answered_ratios();

/// latency, time_to_first_token and inter_token_latency, with their percentiles NAME_p50, NAME_p90
/// and NAME_p99.
std::vector<Response> time_responses();

/// The quantiles in the names of the responses.
std::vector<double> time_quantiles(const std::vector<std::string>& responses);

/// Adds the percentiles. Times that no request has are removed, with a note that says `missing`.
void add_time_percentiles(const std::vector<std::vector<Answered>>& measured,
                          const std::string& missing, Result& result);

/// Removes a response, with a note that gives the reason.
void leave_out(const std::string& name, const std::string& reason, Result& result);

/// At least one measurement after the warm-up, by load.measure(rule); further ones as the time
/// limit allows.
template <class Load>
auto measure_after_warmup(Load& load, measurement::StoppingRule rule, double warmup_s,
                          int repeats) {
  measurement::StoppingRule warmup;
  warmup.min_s = warmup_s;
  warmup.deadline_s = rule.deadline_s;
  load.measure(warmup);
  std::vector<decltype(load.measure(rule))> all;
  for (double took_s = 0;
       std::ssize(all) < repeats &&
       (all.empty() || monotonic_s() + took_s < rule.deadline_s.value_or(INFINITY));) {
    const double began_s = monotonic_s();
    rule.may_be_empty = !all.empty();
    auto next = load.measure(rule);
    took_s = monotonic_s() - began_s;
    if (all.empty() || next.stopped_by != measurement::StoppedBy::kTimeLimit)
      all.push_back(std::move(next));
  }
  return all;
}

}  // namespace doetune::workloads
