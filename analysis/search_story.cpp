#include "analysis/search_story.h"

#include "analysis/best_run.h"
#include "analysis/failed_runs.h"
#include "study/files.h"

namespace doetune::analysis {
namespace {

using Kind = SearchPhase::Kind;

Kind kind_of(const study::PlannedRun& run) {
  if (run.validates()) return Kind::kConfirmation;
  return run.type == doe::PointType::kProposed ? Kind::kProposed : Kind::kStart;
}

}  // namespace

std::optional<SearchStory> search_story(const Analysis& analysis) {
  const std::vector<study::PlannedRun>& runs = analysis.directory->plan.runs;
  if (!is_search(analysis.directory->plan) || analysis.goals.empty()) return std::nullopt;
  SearchStory story;
  if (const auto search = recorded_search(*analysis.directory)) story.end = search->end;
  std::optional<BestRun> best;
  for (const study::PlannedRun& run : runs) {
    const Kind kind = kind_of(run);
    if (story.phases.empty() || story.phases.back().kind != kind) {
      story.phases.push_back({kind, run.run, run.run, 0, 0, 0, 0, {}});
    }
    SearchPhase& phase = story.phases.back();
    phase.last = run.run;
    if (const auto record = analysis.records.find(run.run); record != analysis.records.end()) {
      const study::RunStatus status = record->second.status;
      phase.completed += status == study::RunStatus::kCompleted;
      phase.infeasible += status == study::RunStatus::kInfeasible;
      phase.ended_early += status == study::RunStatus::kEndedEarly;
      phase.other += !study::is_decided(status);
    }
    if (kind != Kind::kConfirmation) best = better_run(analysis, best, run.run);
    if (best && best->meets_limits) phase.best = best->run;
    story.best_so_far.push_back(phase.best);
  }
  return story;
}

std::optional<study::SearchState> recorded_search(const study::StudyDirectory& directory) {
  try {
    study::SearchState state = study::read_search_state(directory.path);
    if (state != study::SearchState()) return state;
  } catch (const study::DirectoryError&) {
  }
  return std::nullopt;
}

}  // namespace doetune::analysis
