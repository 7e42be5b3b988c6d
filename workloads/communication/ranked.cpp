#include "workloads/communication/ranked.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <numeric>

#include "runner/measurement/batch_means.h"
#include "workloads/communication/launch.h"
#include "workloads/processes/cpus.h"
#include "workloads/stream/stream_result.h"
#include "workloads/timing/stopping_rule.h"

namespace doetune::workloads {
namespace {

constexpr double kReserve = 0.95;  // of the time limit; the rest is for ending

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

const double kStart_s = now_s();  // of this process

std::optional<Place> place() {
  try {
    return place_from_environment();
  } catch (const std::invalid_argument& error) {
    throw UsageError(error.what());
  }
}

int ranks_wanted(const Request& request) {
  if (request.inputs.has("ranks")) return request.inputs.integer("ranks");
  return request.gpus.empty() ? 2 : static_cast<int>(request.gpus.size());
}

Result silent() {
  Result result;
  result.silent = true;
  return result;
}

RankedMeasurement measure(Communicator& communicator, const measurement::StoppingRule& rule,
                          const std::string& name, const std::function<Timing()>& once) {
  measurement::Measurement times(rule, now_s());
  RankedMeasurement measured;
  do {
    const Timing timing = once();
    if (communicator.rank() != 0) continue;
    measured.values.push_back(timing);
    times.add(timing.total_s, now_s());
  } while (communicator.agree(!times.stopped_by()));
  if (communicator.rank() != 0) return {};
  measured.window = {times.begin_s(), times.end_s()};
  measured.steady = times.steady();
  if (measured.steady == false)
    measured.unsteady =
        measurement::unsteady_sentence(name, *times.steadiness(), measured.values.size());
  measured.stopped_by = *times.stopped_by();
  measured.values.erase(measured.values.begin(),
                        measured.values.begin() + static_cast<std::ptrdiff_t>(times.begin()));
  return measured;
}

std::vector<double> each(const RankedMeasurement& measured,
                         const std::function<double(const Timing&)>& quantity) {
  std::vector<double> values;
  std::ranges::transform(measured.values, std::back_inserter(values), quantity);
  return values;
}

double sum(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

RankedMeasurement joined(const std::vector<RankedMeasurement>& measured) {
  RankedMeasurement all;
  for (const RankedMeasurement& one : measured)
    all.values.insert(all.values.end(), one.values.begin(), one.values.end());
  return all;
}

/// A series too long is given as means of as many consecutive values as makes it fit.
void add_series(const RankedMeasurement& all, const std::string& name, Result& result) {
  const auto total_s = each(all, [](const Timing& timing) { return timing.total_s; });
  const std::size_t size = (total_s.size() + kLongestSeries - 1) / kLongestSeries;
  for (std::size_t at = 0; at < total_s.size(); at += size) {
    const std::size_t end = std::min(total_s.size(), at + size);
    const std::vector<double> group(total_s.begin() + at, total_s.begin() + end);
    result.series[name].push_back(sum(group) / static_cast<double>(group.size()));
  }
  result.notes["values"] = total_s.size();
  if (size > 1) result.notes["series"] = fmt::format("means of {} values each", size);
}

}  // namespace

std::vector<Input> ranked_inputs() {
  using enum InputKind;
  return {{"ranks", integer, nullptr,
           "processes, one a device; default: those that mpirun or srun started, else one for each "
           "GPU of the run, else 2",
           "", 1, 4096},
          {"transport",
           categorical,
           "auto",
           "between the ranks",
           "",
           0,
           0,
           {"auto", "shm", "tcp", "nccl"}},
          {"arrival_timeout", continuous, 60.0, "longest wait for all ranks to be there", "s", 0.1,
           86400},
          {"warmup", continuous, 0.5, "time before the measurement", "s", 0, 3600},
          {"duration", continuous, 2.0, "least time to measure", "s", 0, 86400},
          {"values", integer, 10, "least number of values to measure", "", 1, 1000000}};
}

Result run_ranked(const Request& request, bool gpus,
                  const std::function<Result(Communicator&)>& work) {
  const Inputs& in = request.inputs;
  const auto here = place();
  if (!here) {
    launch_ranks(ranks_wanted(request), usable_cpus(request.cpus));
    return silent();
  }
  if (in.has("ranks") && in.integer("ranks") != here->ranks)
    throw UsageError(
        fmt::format("ranks = {}, but {} processes were started", in.integer("ranks"), here->ranks));
  Json settings = in.json();
  settings["seed"] = request.seed;
  Group group(*here, settings, std::chrono::duration<double>(in.number("arrival_timeout")));
  Result result = silent();
  in_group(group, in.text("transport"), gpus, [&](Communicator& communicator) {
    Result answer = work(communicator);
    answer.notes["ranks"] = communicator.size();
    answer.notes["transport"] = communicator.name();
    communicator.barrier();
    if (communicator.rank() == 0) result = std::move(answer);
  });
  return result;
}

std::vector<RankedMeasurement> measure_together(Communicator& communicator, const Request& request,
                                                const std::string& name,
                                                const std::function<Timing()>& once) {
  const double start_s = now_s();
  const double warmup_s = request.inputs.number("warmup");
  once();  // what is prepared at the first time never counts
  while (communicator.agree(now_s() < start_s + warmup_s)) once();
  auto rule = stopping_rule(request, request.inputs.integer("values"));
  if (request.time_limit_s) rule.deadline_s = kStart_s + kReserve * *request.time_limit_s;
  std::vector<RankedMeasurement> all;
  for (double took_s = 0; communicator.agree(
           static_cast<int>(all.size()) < request.repeats &&
           (all.empty() || !rule.deadline_s || now_s() + took_s < *rule.deadline_s));) {
    const double began_s = now_s();
    RankedMeasurement next = measure(communicator, rule, name, once);
    took_s = now_s() - began_s;
    const bool cut = next.stopped_by == measurement::StoppedBy::kTimeLimit;
    if (all.empty() || !cut) all.push_back(std::move(next));
  }
  return all;
}

Result ranked_result(const std::vector<RankedMeasurement>& measured,
                     const std::vector<TimingRatio>& ratios, const std::string& series,
                     int wanted) {
  const RankedMeasurement all = joined(measured);
  Result result;
  for (const TimingRatio& ratio : ratios) {
    std::vector<double> repeats;
    for (const RankedMeasurement& one : measured)
      repeats.push_back(sum(each(one, ratio.above)) / sum(each(one, ratio.below)));
    result.responses[ratio.name] = sum(repeats) / static_cast<double>(repeats.size());
    if (repeats.size() > 1) result.repeats[ratio.name] = repeats;
    const auto interval =
        measurement::ratio_interval(each(all, ratio.above), each(all, ratio.below));
    const auto relative = interval ? interval->relative() : std::nullopt;
    if (relative) result.precision[ratio.name] = *relative;
  }
  add_series(all, series, result);
  result.steady = true;
  for (const RankedMeasurement& one : measured) {
    if (one.steady != true && result.steady != false) result.steady = one.steady;
    if (!one.unsteady.empty()) result.notes["steady"] = one.unsteady;
    if (one.stopped_by == measurement::StoppedBy::kTimeLimit)
      result.notes["time_limit"] = "measurement ended early to keep the time limit";
  }
  if (static_cast<int>(measured.size()) < wanted)
    result.notes["repeats"] =
        fmt::format("{} of {} measurements fitted into the time limit", measured.size(), wanted);
  result.window = {measured.front().window.first, measured.back().window.second};
  result.stopped_by = measurement::stopped_by_name(measured.back().stopped_by);
  return result;
}

}  // namespace doetune::workloads
