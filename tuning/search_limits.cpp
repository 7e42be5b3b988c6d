#include "tuning/search_limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "analysis/format.h"
#include "base/clock.h"
#include "surfaces/optimum.h"

namespace doetune::tuning {
namespace {

constexpr const char* kGpuPower = "power";
constexpr const char* kCpuPower = "cpu_power";  ///< of the host, whatever runs there

double seconds_of(const study::RunRecord& record) {
  return record.duration_s + (record.in_set_up ? 0 : record.set_up_s.value_or(0));
}

double gpus_of(const study::RunRecord& record) {
  if (record.gpu.empty()) return 0;
  return 1 + static_cast<double>(std::count(record.gpu.begin(), record.gpu.end(), ','));
}

double watts_of(const study::RunRecord& record, const char* quantity) {
  const auto found = record.telemetry.find(quantity);
  return found != record.telemetry.end() ? found->second : 0;
}

/// When the run and the set-up before it were under way; empty if that is unknown.
std::optional<surfaces::Interval> under_way(const study::RunRecord& record) {
  const auto start = utc_seconds(record.start);
  if (!start) return std::nullopt;
  const double end = *start + record.duration_s;
  return surfaces::Interval{end - seconds_of(record), end};
}

/// The seconds of each record, each of them divided by the number of runs that were under way
/// then, on the same host if so wanted: their sum is the time in which any was.
std::vector<double> shared_seconds(const std::vector<study::RunRecord>& records, bool of_host) {
  std::vector<std::optional<surfaces::Interval>> times;
  std::vector<double> ends;
  for (const study::RunRecord& record : records) {
    times.push_back(under_way(record));
    if (times.back()) ends.insert(ends.end(), {times.back()->low, times.back()->high});
  }
  std::sort(ends.begin(), ends.end());
  const auto runs_at = [&](double time, const std::string& host) {
    double count = 0;
    for (std::size_t i = 0; i < records.size(); ++i) {
      const bool counts = times[i] && (!of_host || records[i].host == host);
      count += counts && times[i]->low <= time && time < times[i]->high;
    }
    return count;
  };
  std::vector<double> seconds(records.size());
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (!times[i]) {
      seconds[i] = seconds_of(records[i]);
      continue;
    }
    auto from = std::lower_bound(ends.begin(), ends.end(), times[i]->low);
    for (; *from < times[i]->high; ++from) {
      const double length = *std::next(from) - *from;
      if (length > 0) seconds[i] += length / runs_at(*from, records[i].host);
    }
  }
  return seconds;
}

/// The mean of the completed runs, which are as those to come; of all that were executed if none
/// has completed.
double mean_use(const std::vector<study::RunRecord>& records, const std::vector<double>& used) {
  double sum = 0, completed_sum = 0;
  int count = 0, completed = 0;
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (records[i].same_as) continue;
    sum += used[i];
    ++count;
    if (records[i].status != study::RunStatus::kCompleted) continue;
    completed_sum += used[i];
    ++completed;
  }
  if (completed > 0) return completed_sum / completed;
  return count > 0 ? sum / count : 0;
}

std::string energy_text(double joules) {
  const double wh = joules / 3600;
  if (wh >= 1000) return fmt::format("{:.3g} kWh", wh / 1000);
  return wh >= 1 ? fmt::format("{:.3g} Wh", wh) : fmt::format("{:.3g} J", joules);
}

}  // namespace

int default_budget(const study::Study& study) {
  return 10 * static_cast<int>(study.factors.size() + 1);
}

SearchLimits search_limits(const study::Study& study, const study::SearchState& given) {
  SearchLimits limits;
  limits.budget = given.budget > 0 ? given.budget : default_budget(study);
  limits.tolerance = given.tolerance >= 0 ? given.tolerance : kTolerance;
  limits.seconds = given.seconds;
  limits.gpu_seconds = given.gpu_seconds;
  limits.joules = given.joules;
  limits.front = given.front;
  limits.settings = surfaces::baseline_of(study.factors) ? 2 : 1;
  if (!limits.front)  // whose points are confirmed once one is chosen
    limits.confirmations = std::min(study.confirmation_runs, limits.budget / (4 * limits.settings));
  return limits;
}

double Resource::left() const { return std::max(0.0, limit - used); }

double Resource::runs_for(double amount) const {
  return each > 0 ? std::floor(amount / each) : std::numeric_limits<double>::infinity();
}

int Resource::confirmations(const SearchLimits& limits) const {
  if (limits.confirmations < 1) return 0;
  const double paid = std::floor(runs_for(limit / 4) / limits.settings);
  return static_cast<int>(std::clamp(paid, 1.0, static_cast<double>(limits.confirmations)));
}

std::vector<Resource> resources(const std::vector<study::RunRecord>& records,
                                const SearchLimits& limits) {
  const std::vector<double> time = shared_seconds(records, false);
  const std::vector<double> of_host = shared_seconds(records, true);
  std::vector<double> gpu_time, energy;
  for (std::size_t i = 0; i < records.size(); ++i) {
    const study::RunRecord& record = records[i];
    const double seconds = seconds_of(record);
    gpu_time.push_back(seconds * gpus_of(record));
    energy.push_back(seconds * watts_of(record, kGpuPower) +
                     of_host[i] * watts_of(record, kCpuPower));
  }
  const auto of = [&](double limit, const std::vector<double>& used, std::string (*text)(double),
                      const char* suffix) {
    return Resource{limit, std::accumulate(used.begin(), used.end(), 0.0), mean_use(records, used),
                    text, suffix};
  };
  Resource of_time = of(limits.seconds, time, analysis::duration_text, "");
  of_time.shared_by = limits.jobs;
  return {of_time, of(limits.gpu_seconds, gpu_time, analysis::duration_text, " of GPU time"),
          of(limits.joules, energy, energy_text, "")};
}

bool record_power(const std::vector<study::RunRecord>& records) {
  return std::any_of(records.begin(), records.end(), [](const study::RunRecord& record) {
    return record.telemetry.contains(kGpuPower) || record.telemetry.contains(kCpuPower);
  });
}

}  // namespace doetune::tuning
