#include "workloads/timing/timed_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "runner/measurement/batch_means.h"
#include "workloads/timing/stopping_rule.h"

namespace doetune::workloads {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kMostRepetitions = 1'000'000;  // in a slice
constexpr double kReserve = 0.95;            // of the time limit; the rest is for ending

double now_s() { return std::chrono::duration<double>(Clock::now().time_since_epoch()).count(); }

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

int repetitions_in(double slice_s, double run_s) {
  return static_cast<int>(std::clamp(std::ceil(slice_s / run_s), 1.0, double{kMostRepetitions}));
}

/// Returns the repetitions of a slice. They grow during the warm-up, for the first runs are slower
/// than later ones.
int warm_up(const TimedRuns& run, const TimingOptions& options) {
  const double end_s =
      std::min(now_s() + options.warmup_s, options.rule.deadline_s.value_or(INFINITY));
  int repetitions = 1;
  run(1);
  do {
    const double run_s = run(repetitions) / repetitions;
    repetitions = std::min(2 * repetitions, repetitions_in(options.slice_s, run_s));
  } while (now_s() < end_s);
  return repetitions_in(options.slice_s, run(repetitions) / repetitions);
}

TimedMeasurement measure(const TimedRuns& run, int repetitions,
                         const measurement::StoppingRule& rule) {
  const double start_s = now_s();
  measurement::Measurement times(rule, start_s);
  TimedMeasurement measured;
  while (!times.stopped_by()) {
    measured.seconds.push_back(run(repetitions) / repetitions);
    times.add(measured.seconds.back(), now_s());
  }
  measured.window = {std::max(start_s, times.begin_s()), times.end_s()};
  measured.steady = times.steady();
  if (measured.steady == false)
    measured.unsteady =
        measurement::unsteady_sentence("time", *times.steadiness(), measured.seconds.size());
  measured.stopped_by = *times.stopped_by();
  measured.seconds.erase(measured.seconds.begin(),
                         measured.seconds.begin() + static_cast<std::ptrdiff_t>(times.begin()));
  measured.runs = static_cast<std::int64_t>(measured.seconds.size()) * repetitions;
  return measured;
}

/// Steady where all are, not steady where one is not.
std::optional<bool> steady(const std::vector<TimedMeasurement>& measured) {
  std::optional<bool> all = true;
  for (const TimedMeasurement& one : measured) {
    if (one.steady == false) return false;
    if (!one.steady) all.reset();
  }
  return all;
}

void add_notes(const std::vector<TimedMeasurement>& measured, int wanted, Result& result) {
  std::int64_t runs = 0;
  for (const TimedMeasurement& one : measured) {
    runs += one.runs;
    if (one.stopped_by == measurement::StoppedBy::kTimeLimit)
      result.notes["time_limit"] = "measurement ended early to keep the time limit";
    if (!one.unsteady.empty()) result.notes["steady"] = one.unsteady;
  }
  result.notes["runs"] = runs;
  if (static_cast<int>(measured.size()) < wanted)
    result.notes["repeats"] =
        fmt::format("{} of {} measurements fitted into the time limit", measured.size(), wanted);
}

}  // namespace

std::vector<TimedMeasurement> time_runs(const TimedRuns& run, const TimingOptions& options) {
  const int repetitions = warm_up(run, options);
  double began_s = now_s();
  std::vector<TimedMeasurement> all{measure(run, repetitions, options.rule)};
  while (static_cast<int>(all.size()) < options.repeats) {
    const double took_s = now_s() - std::exchange(began_s, now_s());
    if (now_s() + took_s > options.rule.deadline_s.value_or(INFINITY)) break;
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
  if (request.time_limit_s)
    options.rule.deadline_s = std::chrono::duration<double>(start.time_since_epoch()).count() +
                              kReserve * *request.time_limit_s;
  options.repeats = request.repeats;
  return options;
}

Result timed_result(const std::vector<TimedMeasurement>& measured, int wanted,
                    const std::vector<Derived>& responses) {
  std::vector<double> all;
  for (const TimedMeasurement& one : measured)
    all.insert(all.end(), one.seconds.begin(), one.seconds.end());
  const auto interval = measurement::mean_interval(all);
  const auto relative = interval ? interval->relative() : std::nullopt;
  Result result;
  for (const auto& [name, value] : responses) {
    std::vector<double> repeats;
    for (const TimedMeasurement& one : measured) repeats.push_back(value(mean(one.seconds)));
    result.responses[name] = mean(repeats);
    if (measured.size() > 1) result.repeats[name] = std::move(repeats);
    if (relative) result.precision[name] = *relative;
  }
  add_notes(measured, wanted, result);
  result.window = {measured.front().window.first, measured.back().window.second};
  result.steady = steady(measured);
  result.stopped_by = measurement::stopped_by_name(
      std::ranges::max(measured, {}, &TimedMeasurement::stopped_by).stopped_by);
  return result;
}

}  // namespace doetune::workloads
