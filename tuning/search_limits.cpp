#include "tuning/search_limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "analysis/format.h"
#include "surfaces/optimum.h"

namespace doetune::tuning {
namespace {

constexpr std::array<const char*, 2> kPowers = {"power", "cpu_power"};

double seconds_of(const study::RunRecord& record) {
  return record.duration_s + (record.in_set_up ? 0 : record.set_up_s.value_or(0));
}

double gpus_of(const study::RunRecord& record) {
  if (record.gpu.empty()) return 0;
  return 1 + static_cast<double>(std::count(record.gpu.begin(), record.gpu.end(), ','));
}

double watts_of(const study::RunRecord& record) {
  double watts = 0;
  for (const char* quantity : kPowers) {
    const auto found = record.telemetry.find(quantity);
    if (found != record.telemetry.end()) watts += found->second;
  }
  return watts;
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
  Resource time{limits.seconds, 0, 0, analysis::duration_text, ""};
  Resource gpu_time{limits.gpu_seconds, 0, 0, analysis::duration_text, " of GPU time"};
  Resource energy{limits.joules, 0, 0, energy_text, ""};
  for (const study::RunRecord& record : records) {
    const double seconds = seconds_of(record);
    time.used += seconds / limits.jobs;
    gpu_time.used += seconds * gpus_of(record);
    energy.used += seconds * watts_of(record);
  }
  std::vector<Resource> all{time, gpu_time, energy};
  for (Resource& resource : all) {
    if (!records.empty()) resource.each = resource.used / static_cast<double>(records.size());
  }
  return all;
}

bool record_power(const std::vector<study::RunRecord>& records) {
  return std::any_of(records.begin(), records.end(), [](const study::RunRecord& record) {
    return std::any_of(kPowers.begin(), kPowers.end(),
                       [&](const char* quantity) { return record.telemetry.contains(quantity); });
  });
}

}  // namespace doetune::tuning
