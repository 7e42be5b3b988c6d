#include "workloads/communication/ranked.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <numeric>

#include "base/clock.h"
#include "base/hash.h"
#include "runner/measurement/batch_means.h"
#include "workloads/communication/launch.h"
#include "workloads/processes/cpus.h"
#include "workloads/timing/stopping_rule.h"

namespace doetune::workloads {
namespace {

constexpr double kReserve = 0.95;  // of the time limit; the rest is for shutting down

const double kStart_s = monotonic_s();  // of this process

int ranks_wanted(const Request& request) {
  if (request.inputs.has("ranks")) return request.inputs.integer("ranks");
  return request.gpus.empty() ? 2 : static_cast<int>(request.gpus.size());
}

/// All ranks must measure the same.
void check_settings(Communicator& communicator, const Request& request) {
  Json settings = request.inputs.json();
  settings["seed"] = request.seed;
  const auto hash = static_cast<float>(fnv1a_32(settings.dump()) >> 8);  // 24 bits are exact
  const auto all = communicator.gather(hash);
  const auto other = std::ranges::find_if(all, [&](float its) { return its != all.front(); });
  if (other == all.end()) return;
  const auto rank = static_cast<int>(other - all.begin());
  throw UsageError(fmt::format("{} was started with other settings than rank 0",
                               rank_name(rank, communicator.size())));
}

Result silent() {
  Result result;
  result.silent = true;
  return result;
}

RankedMeasurement measure(Communicator& communicator, const measurement::StoppingRule& rule,
                          const std::string& name, const std::function<Timing()>& once) {
  measurement::Measurement times(rule, monotonic_s());
  RankedMeasurement measured;
  do {
    const Timing timing = once();
    if (communicator.rank() != 0) continue;
    measured.values.push_back(timing);
    times.add(timing.total_s, monotonic_s());
  } while (communicator.agree(!times.stopped_by()));
  if (communicator.rank() != 0) return {};
  conclude(times, name, measured);
  return measured;
}

}  // namespace

std::vector<Input> ranked_inputs() {
  using enum InputKind;
  return {
      {"ranks", integer, nullptr,
       "processes, one per device; default: those that mpirun or srun started, else one for each "
       "GPU of the run, else 2",
       "", 1, kMaxRanks},
      {"transport",
       categorical,
       "auto",
       "transport between the ranks",
       "",
       0,
       0,
       {"auto", "mpi", "nccl"}},
      {"warmup", continuous, 0.5, "warm-up time before the measurement", "s", 0, 3600},
      {"duration", continuous, 2.0, "minimum measurement time", "s", 0, 86400},
      {"values", integer, 10, "minimum number of measured values", "", 1, 1000000}};
}

Result run_ranked(const Request& request, bool gpus,
                  const std::function<Result(Communicator&)>& work) {
  const Inputs& in = request.inputs;
  const auto started = started_ranks();
  const auto cpus = assigned_cpus(request.cpus);
  if (!started && ranks_wanted(request) > 1) {
    launch_ranks(ranks_wanted(request), cpus);
    return silent();
  }
  if (in.has("ranks") && in.integer("ranks") != started.value_or(1))
    throw UsageError(
        fmt::format("ranks = {}, but {} processes were started", in.integer("ranks"), *started));
  settle(cpus);
  Result result = silent();
  in_ranks(in.text("transport"), gpus, [&](Communicator& communicator) {
    check_settings(communicator, request);
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
  const double start_s = monotonic_s();
  const double warmup_s = request.inputs.number("warmup");
  once();  // one-time preparation is never measured
  while (communicator.agree(monotonic_s() < start_s + warmup_s)) once();
  auto rule = stopping_rule(request, request.inputs.integer("values"));
  if (request.time_limit_s) rule.deadline_s = kStart_s + kReserve * *request.time_limit_s;
  std::vector<RankedMeasurement> all;
  for (double took_s = 0; communicator.agree(
           static_cast<int>(all.size()) < request.repeats &&
           (all.empty() || !rule.deadline_s || monotonic_s() + took_s < *rule.deadline_s));) {
    const double began_s = monotonic_s();
    RankedMeasurement next = measure(communicator, rule, name, once);
    took_s = monotonic_s() - began_s;
    const bool cut = next.stopped_by == measurement::StoppedBy::kTimeLimit;
    if (all.empty() || !cut) all.push_back(std::move(next));
  }
  return all;
}

Result ranked_result(const std::vector<RankedMeasurement>& measured,
                     const std::vector<TimingRatio>& ratios, const std::string& series,
                     int wanted) {
  Result result = ratio_result(measured, ratios, wanted);
  const auto times = each<Timing>(joined(measured), &Timing::total_s);
  add_series(series, times, "values", result);
  result.notes["values"] = times.size();
  return result;
}

}  // namespace doetune::workloads
