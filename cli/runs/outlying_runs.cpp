#include "cli/runs/outlying_runs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <set>

#include "analysis/format.h"
#include "base/standard_streams.h"
#include "cli/command.h"
#include "cli/options/run_numbers.h"
#include "study/augment.h"
#include "study/directory/journal.h"

namespace doetune::cli {
namespace {

constexpr int kRunsPerReplicate = 4;   // at most one replicate for this many runs
constexpr std::size_t kMaxListed = 8;  // the report lists all

void report(const std::vector<analysis::OutlyingRun>& outlying) {
  for (std::size_t i = 0; i < std::min(outlying.size(), kMaxListed); ++i) {
    print_message("Run {} is suspect: {}\n", outlying[i].run, fmt::join(outlying[i].reasons, "; "));
  }
  if (outlying.size() > kMaxListed) {
    print_message("{} more are suspect; `doetune report` lists them\n",
                  outlying.size() - kMaxListed);
  }
}

/// The runs of `outlying` that are not in `taken`.
std::vector<int> others(const std::vector<analysis::OutlyingRun>& outlying,
                        const std::vector<int>& taken) {
  std::vector<int> runs;
  for (const analysis::OutlyingRun& run : outlying) {
    if (std::find(taken.begin(), taken.end(), run.run) == taken.end()) runs.push_back(run.run);
  }
  std::sort(runs.begin(), runs.end());
  return runs;
}

}  // namespace

std::vector<analysis::OutlyingRun> not_repeated(const study::Plan& plan,
                                                std::vector<analysis::OutlyingRun> outlying) {
  std::set<int> settled;
  for (const study::PlannedRun& run : plan.runs) {
    const auto first = study::repeated_run(plan, run.run);
    if (first) settled.insert({run.run, *first});
    if (run.validates()) settled.insert(run.run);
  }
  std::erase_if(outlying,
                [&](const analysis::OutlyingRun& run) { return settled.count(run.run) > 0; });
  return outlying;
}

std::vector<int> within_a_quarter(const study::Plan& plan,
                                  const std::vector<analysis::OutlyingRun>& outlying) {
  const auto repeats = static_cast<int>(
      std::count_if(plan.runs.begin(), plan.runs.end(), [&](const study::PlannedRun& run) {
        return study::repeated_run(plan, run.run).has_value();
      }));
  const auto validating = static_cast<int>(std::count_if(
      plan.runs.begin(), plan.runs.end(), [](const auto& run) { return run.validates(); }));
  const int max_repeats =
      (static_cast<int>(plan.runs.size()) - validating - repeats) / kRunsPerReplicate - repeats;
  std::vector<int> runs;
  for (const analysis::OutlyingRun& run : outlying) {
    if (static_cast<int>(runs.size()) < max_repeats) runs.push_back(run.run);
  }
  std::sort(runs.begin(), runs.end());
  return runs;
}

std::vector<int> assess_outlying_runs(const study::StudyDirectory& directory) {
  const auto outlying =
      not_repeated(directory.plan, analysis::outlying_runs(analysis::fit_runs(directory)));
  if (outlying.empty()) return {};
  report(outlying);
  std::vector<int> again;
  if (directory.study.run.outliers == study::Outliers::kRerun) {
    again = within_a_quarter(directory.plan, outlying);
  }
  if (!again.empty()) {
    print_message("Measuring {} again (outliers: rerun); both values are used\n",
                  analysis::runs_text(again));
  }
  if (const std::vector<int> rest = others(outlying, again); !rest.empty()) {
    print_message("`doetune run {} --rerun {}` measures {} again; both values are used\n",
                  directory.path.string(), analysis::run_list(rest),
                  rest.size() == 1 ? "it" : "them");
  }
  return again;
}

std::vector<int> runs_to_rerun(const std::string& text, const study::StudyDirectory& directory) {
  std::vector<int> runs =
      parse_run_numbers("--rerun", text, static_cast<int>(directory.plan.runs.size()));
  if (runs.empty()) throw UsageError("doetune run: --rerun needs run numbers, e.g. 3,7-9");
  std::sort(runs.begin(), runs.end());
  runs.erase(std::unique(runs.begin(), runs.end()), runs.end());
  const auto records = study::final_records(study::read_journal(directory).records);
  std::vector<int> missing;
  for (const int run : runs) {
    const auto record = records.find(run);
    const bool completed =
        record != records.end() && record->second.status == study::RunStatus::kCompleted;
    if (!completed) missing.push_back(run);
  }
  if (!missing.empty()) {
    throw UsageError(
        fmt::format("--rerun: {} {} not completed, so there is nothing to measure again; `doetune "
                    "run --only {}` executes what is missing",
                    analysis::runs_text(missing), missing.size() == 1 ? "has" : "have",
                    analysis::run_list(missing)));
  }
  return runs;
}

std::vector<int> add_repeats(study::StudyDirectory& directory, const std::vector<int>& runs,
                             bool dry_run) {
  const auto before = static_cast<int>(directory.plan.runs.size());
  study::Plan plan = study::repeated_plan(directory.plan, directory.study, runs);
  std::vector<int> added(runs.size());
  std::iota(added.begin(), added.end(), before + 1);
  if (dry_run) {
    directory.plan = std::move(plan);
  } else {
    study::extend_directory(directory, std::move(plan));
  }
  return added;
}

}  // namespace doetune::cli
