#include "workloads/communication/ranked.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <numeric>

#include "base/clock.h"
#include "runner/measurement/batch_means.h"
#include "workloads/communication/launch.h"
#include "workloads/processes/cpus.h"
#include "workloads/timing/stopping_rule.h"

namespace doetune::workloads {
namespace {

constexpr double kReserve = 0.95;  // of the time limit; the rest is for shutting down

const double kStart_s = monotonic_s();  // of this process

std::optional<RankContext> launched_rank() {
  try {
    return rank_from_environment();
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
       {"auto", "shm", "tcp", "nccl", "mpi"}},
      {"arrival_timeout", continuous, 60.0, "time limit for all ranks to connect", "s", 0.1, 86400},
      {"warmup", continuous, 0.5, "warm-up time before the measurement", "s", 0, 3600},
      {"duration", continuous, 2.0, "minimum measurement time", "s", 0, 86400},
      {"values", integer, 10, "minimum number of measured values", "", 1, 1000000}};
}

Result run_ranked(const Request& request, bool gpus,
                  const std::function<Result(Communicator&)>& work) {
  const Inputs& in = request.inputs;
  const auto here = launched_rank();
  if (!here) {
    launch_ranks(ranks_wanted(request), assigned_cpus(request.cpus));
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
