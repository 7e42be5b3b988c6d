#include "workloads/timing/timed_runs.h"

#include <algorithm>
#include <cmath>

#include "base/clock.h"
#include "workloads/timing/stopping_rule.h"

namespace doetune::workloads {
namespace {

constexpr int kMaxRepetitions = 1'000'000;  // per slice

double mean(const std::vector<double>& values) {
  return sum(values) / static_cast<double>(values.size());
}

int repetitions_in(double slice_s, double run_s) {
  return static_cast<int>(std::clamp(std::ceil(slice_s / run_s), 1.0, double{kMaxRepetitions}));
}

/// Returns the repetitions per slice. They are adapted during the warm-up, since the first runs are
/// slower than later ones.
int warm_up(const TimedRuns& run, const TimingOptions& options) {
  const double end_s =
      std::min(monotonic_s() + options.warmup_s, options.rule.deadline_s.value_or(INFINITY));
  int repetitions = 1;
  run(1);
  do {
    const double run_s = run(repetitions) / repetitions;
    repetitions = std::min(2 * repetitions, repetitions_in(options.slice_s, run_s));
  } while (monotonic_s() < end_s);
  return repetitions_in(options.slice_s, run(repetitions) / repetitions);
}

TimedMeasurement measure(const TimedRuns& run, int repetitions,
                         const measurement::StoppingRule& rule) {
  measurement::Measurement times(rule, monotonic_s());
  TimedMeasurement measured;
  while (!times.stopped_by()) {
    measured.values.push_back(run(repetitions) / repetitions);
    times.add(measured.values.back(), monotonic_s());
  }
  conclude(times, "time", measured);
  measured.runs = static_cast<std::int64_t>(measured.values.size()) * repetitions;
  return measured;
}

}  // namespace

std::vector<TimedMeasurement> time_runs(const TimedRuns& run, const TimingOptions& options) {
  const int repetitions = warm_up(run, options);
  double began_s = monotonic_s();
  std::vector<TimedMeasurement> all{measure(run, repetitions, options.rule)};
  while (static_cast<int>(all.size()) < options.repeats) {
    const double took_s = monotonic_s() - std::exchange(began_s, monotonic_s());
    if (monotonic_s() + took_s > options.rule.deadline_s.value_or(INFINITY)) break;
    TimedMeasurement next = measure(run, repetitions, options.rule);
    if (next.stopped_by == measurement::StoppedBy::kTimeLimit) break;
    all.push_back(std::move(next));
  }
  return all;
}

TimingOptions timing_options(const Request& request, Clock::time_point start) {
  TimingOptions options;
  options.warmup_s = request.inputs.number("warmup");
  options.rule = stopping_rule(request, 1);
  options.rule.deadline_s = deadline_s(request, start);
  options.repeats = request.repeats;
  return options;
}

Result timed_result(const std::vector<TimedMeasurement>& measured, int wanted,
                    const std::vector<Derived>& responses) {
  std::vector<double> all;
  std::int64_t runs = 0;
  for (const TimedMeasurement& one : measured) {
    all.insert(all.end(), one.values.begin(), one.values.end());
    runs += one.runs;
  }
  const auto interval = measurement::mean_interval(all);
  const auto relative = interval ? interval->relative() : std::nullopt;
  Result result;
  for (const auto& [name, value] : responses) {
    std::vector<double> repeats;
    for (const TimedMeasurement& one : measured) repeats.push_back(value(mean(one.values)));
    result.responses[name] = mean(repeats);
    if (measured.size() > 1) result.repeats[name] = std::move(repeats);
    if (relative) result.precision[name] = *relative;
  }
  result.notes["runs"] = runs;
  add_conclusions({measured.begin(), measured.end()}, wanted, result);
  result.stopped_by = measurement::stopped_by_name(
      std::ranges::max(measured, {}, &TimedMeasurement::stopped_by).stopped_by);
  return result;
}

}  // namespace doetune::workloads
