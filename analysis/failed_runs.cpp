#include "analysis/failed_runs.h"

#include <algorithm>

namespace doetune::analysis {
namespace {

bool has_failed(const study::RunRecord& record) {
  const bool failed =
      record.status == study::RunStatus::kFailed || record.status == study::RunStatus::kTimedOut;
  return failed && !record.same_as;
}

/// Those at settings that a run which confirms shares with another one.
std::set<int> repeated_failures(const study::Plan& plan, const std::set<int>& failures) {
  const auto run_of = [&](int run) -> const study::PlannedRun& {
    return plan.runs[static_cast<std::size_t>(run - 1)];
  };
  std::map<std::vector<double>, int> failed;
  std::set<std::vector<double>> confirmed;
  for (const int run : failures) {
    ++failed[run_of(run).settings];
    if (run_of(run).validates()) confirmed.insert(run_of(run).settings);
  }
  std::set<int> repeated;
  for (const int run : failures) {
    const std::vector<double>& settings = run_of(run).settings;
    if (failed[settings] > 1 && confirmed.contains(settings)) repeated.insert(run);
  }
  return repeated;
}

}  // namespace

bool is_search(const study::Plan& plan) {
  return std::any_of(plan.runs.begin(), plan.runs.end(), [](const study::PlannedRun& run) {
    return run.type == doe::PointType::kProposed;
  });
}

bool any_completed(const std::map<int, study::RunRecord>& final_records) {
  return std::any_of(final_records.begin(), final_records.end(), [](const auto& entry) {
    return entry.second.status == study::RunStatus::kCompleted;
  });
}

std::set<int> failures_that_count(const study::Plan& plan,
                                  const std::map<int, study::RunRecord>& final_records) {
  const auto settings_of = [&](int run) -> const std::vector<double>& {
    return plan.runs[static_cast<std::size_t>(run - 1)].settings;
  };
  std::set<std::vector<double>> able;
  for (const auto& [run, record] : final_records) {
    if (record.status == study::RunStatus::kCompleted) able.insert(settings_of(run));
  }
  std::set<int> failures;
  for (const auto& [run, record] : final_records) {
    if (has_failed(record) && !able.empty() && !able.contains(settings_of(run)))
      failures.insert(run);
  }
  return failures;
}

std::set<int> infeasible_runs(const study::Plan& plan,
                              const std::map<int, study::RunRecord>& final_records) {
  std::set<int> runs = failures_that_count(plan, final_records);
  if (!is_search(plan)) runs = repeated_failures(plan, runs);
  for (const auto& [run, record] : final_records) {
    if (record.status == study::RunStatus::kInfeasible) runs.insert(run);
  }
  return runs;
}

bool has_been_infeasible(const study::Plan& plan,
                         const std::map<int, study::RunRecord>& final_records,
                         const std::vector<double>& settings) {
  const std::set<int> runs = infeasible_runs(plan, final_records);
  return std::any_of(runs.begin(), runs.end(), [&](int run) {
    return plan.runs[static_cast<std::size_t>(run - 1)].settings == settings;
  });
}

std::string first_runs_failed_alike(const std::map<int, study::RunRecord>& final_records) {
  constexpr std::size_t kEnough = 3;
  if (final_records.size() < kEnough) return "";
  const study::RunRecord& first = final_records.begin()->second;
  const bool alike =
      std::all_of(final_records.begin(), final_records.end(), [&](const auto& entry) {
        const study::RunRecord& record = entry.second;
        return record.status == study::RunStatus::kFailed && record.reason == first.reason &&
               record.exit_code == first.exit_code;
      });
  return alike ? first.reason : "";
}

}  // namespace doetune::analysis
