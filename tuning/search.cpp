#include "tuning/search.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/confirmation.h"
#include "analysis/format.h"
#include "study/confirmation_runs.h"
#include "study/directory/journal.h"
#include "study/error.h"
#include "study/experimental_region.h"
#include "surfaces/optimum.h"
#include "tuning/study_search.h"

namespace doetune::tuning {
namespace {

constexpr int kPatience = 3;  ///< proposals in a row with a small expected gain

std::map<int, study::RunRecord> records_of(const study::StudyDirectory& directory) {
  return study::final_records(study::read_journal(directory).records);
}

/// Appends proposals to the plan.
std::vector<NextRun> planned(study::StudyDirectory& directory,
                             const std::vector<Proposal>& proposals) {
  std::vector<NextRun> runs;
  if (proposals.empty()) return runs;
  const std::size_t before = directory.plan.runs.size();
  study::extend_directory(directory, with_proposals(directory.plan, proposals));
  for (std::size_t i = 0; i < proposals.size(); ++i) {
    runs.push_back({directory.plan.runs[before + i], proposals[i]});
  }
  return runs;
}

std::vector<Proposal> proposals_for(const study::StudyDirectory& directory, int batch) {
  const auto records = records_of(directory);
  return next_runs(open_problem(directory, records), observations_of(directory, records), batch);
}

/// Whether the search ended before, with runs that confirm.
bool is_confirming(const study::StudyDirectory& directory) {
  const auto& runs = directory.plan.runs;
  return std::any_of(runs.begin(), runs.end(), [](const study::PlannedRun& run) {
    return run.type == doe::PointType::kConfirmation;
  });
}

}  // namespace

int default_budget(const study::Study& study) {
  return 10 * static_cast<int>(study.factors.size() + 1);
}

SearchLimits search_limits(const study::Study& study, int budget, double tolerance) {
  const int settings = surfaces::baseline_of(study.factors) ? 2 : 1;
  const int confirmations = std::min(study.confirmation_runs, budget / (4 * settings));
  return {budget, tolerance, confirmations, settings * confirmations};
}

study::StudyDirectory create_search(const std::filesystem::path& path, const study::Study& study,
                                    int budget, const PlanCheck& check) {
  const study::Plan plan = first_plan(study, budget);
  if (check) check(plan);
  return study::create_directory(path, search_study(study, budget), plan, false);
}

void check_same_study(const study::StudyDirectory& directory, const study::Study& study) {
  const auto aspects = [](const study::Study& of) {
    auto texts = study::experimental_region(of);
    for (const study::Response& response : of.responses) {
      texts["responses." + response.name] = response.formula;
    }
    return texts;
  };
  const auto there = aspects(directory.study), wanted = aspects(study);
  for (const auto* texts : {&wanted, &there}) {
    for (const auto& [key, text] : *texts) {
      const auto one = there.find(key), other = wanted.find(key);
      if (one != there.end() && other != wanted.end() && one->second == other->second) continue;
      throw study::StudyError(fmt::format(
          "{}: {} is not that of the study in {}: search in another directory, or remove that one",
          study.location(key), key, directory.path.string()));
    }
  }
}

std::vector<NextRun> pending_runs(const study::StudyDirectory& directory, int most) {
  const auto records = records_of(directory);
  std::vector<NextRun> pending;
  for (const study::PlannedRun& run : directory.plan.runs) {
    if (static_cast<int>(pending.size()) == most) break;
    if (!records.contains(run.run)) pending.push_back({run});
  }
  return pending;
}

std::vector<NextRun> next_planned_runs(study::StudyDirectory& directory, int batch) {
  const auto pending = pending_runs(directory, batch);
  return pending.empty() ? planned(directory, proposals_for(directory, batch)) : pending;
}

std::vector<int> plan_confirmation(study::StudyDirectory& directory, int runs) {
  const analysis::Analysis analysis = analysis::analyse(directory);
  if (!analysis.optimum || !analysis.optimum->feasible) return {};
  study::ValidatedSettings validated = analysis::validated_settings(analysis);
  const doe::Region& region = directory.study.region;
  if (validated.baseline && !region.allows(*validated.baseline)) validated.baseline.reset();
  study::Plan plan = study::confirmation_plan(directory.plan, directory.study, validated, runs);
  const std::vector<int> numbers = study::validation_runs(plan, validated).all();
  if (plan.runs.size() > directory.plan.runs.size()) {
    study::extend_directory(directory, std::move(plan));
  }
  return numbers;
}

Search::Search(const study::StudyDirectory& directory, const SearchLimits& limits)
    : limits_(limits) {
  // A search that ended once needs no more proof that little is to be gained.
  if (is_confirming(directory)) small_gains_ = kPatience - 1;
}

int Search::runs_left(const study::StudyDirectory& directory) const {
  return limits_.budget - limits_.validating - static_cast<int>(directory.plan.runs.size());
}

std::vector<NextRun> Search::propose(study::StudyDirectory& directory, int batch) {
  const int left = runs_left(directory);
  if (left < 1) {
    return ends(fmt::format("{} of {} runs are made", directory.plan.runs.size(), limits_.budget));
  }
  if (const auto reason = out_of_time(directory, batch)) return ends(*reason);
  const auto proposals = proposals_for(directory, std::min(left, batch));
  if (proposals.empty()) return ends("every configuration has been tried");
  const auto gain = proposals.front().gain;
  small_gains_ = gain && *gain < limits_.tolerance ? small_gains_ + 1 : 0;
  if (small_gains_ >= kPatience) {
    return ends(fmt::format("another run is expected to gain {:.1f} %", 100 * *gain));
  }
  return planned(directory, proposals);
}

std::optional<std::string> Search::out_of_time(const study::StudyDirectory& directory,
                                               int batch) const {
  const auto records = study::read_journal(directory).records;
  double spent = 0;
  for (const study::RunRecord& record : records) spent += record.duration_s;
  const double each = records.empty() ? 0 : spent / static_cast<double>(records.size());
  const double needed = (spent + (batch + limits_.validating) * each) / limits_.jobs;
  if (needed <= limits_.seconds) return std::nullopt;
  return fmt::format("{} of {} are used, and another run would leave too little to confirm",
                     analysis::duration_text(spent / limits_.jobs),
                     analysis::duration_text(limits_.seconds));
}

bool Search::may_confirm(const study::StudyDirectory& directory) const {
  if (limits_.confirmations < 1) return false;
  return runs_left(directory) >= 0 || is_confirming(directory);
}

std::vector<NextRun> Search::ends(std::string reason) {
  reason_ = std::move(reason);
  return {};
}

}  // namespace doetune::tuning
