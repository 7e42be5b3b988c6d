#include "analysis/search_story.h"

#include <algorithm>
#include <cmath>

namespace doetune::analysis {
namespace {

using Kind = SearchPhase::Kind;

Kind kind_of(const study::PlannedRun& run) {
  if (run.validates()) return Kind::kConfirmation;
  return run.type == doe::PointType::kProposed ? Kind::kProposed : Kind::kStart;
}

/// The desirability of a run that has all responses with goals and meets the limits.
std::optional<double> desirability(const Analysis& analysis, const study::RunRecord& record) {
  double logarithm = 0;
  for (const auto& [name, goal] : analysis.goals) {
    const auto value = record.responses.find(name);
    if (value == record.responses.end()) return std::nullopt;
    if (goal.is_limit()) {
      if (!goal.is_met(value->second)) return std::nullopt;
    } else {
      logarithm += goal.importance * std::log(goal.desirability(value->second));
    }
  }
  return std::exp(logarithm);
}

}  // namespace

std::optional<SearchStory> search_story(const Analysis& analysis) {
  const std::vector<study::PlannedRun>& runs = analysis.directory->plan.runs;
  const bool searched = std::any_of(runs.begin(), runs.end(), [](const auto& run) {
    return run.type == doe::PointType::kProposed;
  });
  if (!searched || analysis.goals.empty()) return std::nullopt;
  SearchStory story;
  std::optional<int> best;
  double highest = 0;
  for (const study::PlannedRun& run : runs) {
    const Kind kind = kind_of(run);
    if (story.phases.empty() || story.phases.back().kind != kind) {
      story.phases.push_back({kind, run.run, run.run, 0, 0, 0, {}});
    }
    SearchPhase& phase = story.phases.back();
    phase.last = run.run;
    if (const auto record = analysis.records.find(run.run); record != analysis.records.end()) {
      const study::RunStatus status = record->second.status;
      phase.completed += status == study::RunStatus::kCompleted;
      phase.infeasible += status == study::RunStatus::kInfeasible;
      phase.other +=
          status != study::RunStatus::kCompleted && status != study::RunStatus::kInfeasible;
      const bool counts = status == study::RunStatus::kCompleted && kind != Kind::kConfirmation;
      const auto value = counts ? desirability(analysis, record->second) : std::nullopt;
      if (value && (!best || *value > highest)) {
        best = run.run;
        highest = *value;
      }
    }
    phase.best = best;
    story.best_so_far.push_back(best);
  }
  return story;
}

std::string phase_name(SearchPhase::Kind kind) {
  switch (kind) {
    case Kind::kStart:
      return "Start";
    case Kind::kProposed:
      return "Search";
    case Kind::kConfirmation:
      return "Confirmation";
  }
  return "";
}

}  // namespace doetune::analysis
